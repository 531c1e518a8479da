"""Depth: risk against the number of layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw.sizes import draw_sizes
from . import ARMS, Figure, Needs, Problem, Tables, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve


class Depth(Figure):
    """A panel per n: the depths of one setting."""

    subject = "settings of several layers"
    own = True
    properties: ClassVar = {
        "setting": text("The setting whose depths are drawn; the figure's own name where left out"),
        "arms": ARMS,
    }

    @classmethod
    def draws(cls, setting: Setting) -> bool:
        return super().draws(setting) and len(setting.depths) > 1

    def problems(self, config: Config) -> Iterator[Problem]:
        yield from self.arm_problems(config.settings[self.bases[0]])

    def curves(self, config: Config) -> list[Curve]:
        setting = config.settings[self.bases[0]]
        arms = self.block.get("arms", setting.arms)
        depths = setting.depths
        return [c for layers in depths for c in setting.drawn(setting.model, layers, arms)]

    def scored(self, config: Config) -> list[Curve]:
        """Once, on the setting's own figure."""
        return self.curves(config) if self.bases == [self.name] else []

    def needs(self, config: Config) -> Needs:
        return Needs(self.bases, self.bases, self.bases, self.bases)

    def drawing(self, config: Config) -> dict[str, Any]:
        base, curves = self.bases[0], self.curves(config)
        return {
            "setting": base,
            "model": curves[0].model,
            "arms": list(dict.fromkeys(curve.arm for curve in curves)),
            "n": list(config.settings[base].n),
            "points": [
                [layers, base, layers] for layers in sorted({curve.layers for curve in curves})
            ],
            "axis": "layers $L$",
            "symbol": "L",
            "logarithmic": False,
        }

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_sizes(drawing, tables, note)


KIND = Depth
