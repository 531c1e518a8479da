"""Against linear: a model without theorems beside the theorems of linear attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw.panels import draw_panels
from . import ARMS, Figure, Needs, Problem, Tables, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve

DASHED = "linear, theorem"


class AgainstLinear(Figure):
    """A panel per setting and depth: risks of its first model."""

    subject = "settings whose first model has no theorem"
    own = True
    properties: ClassVar = {
        "settings": names("The settings that are drawn; the figure's own name where left out"),
        "arms": ARMS,
    }

    @classmethod
    def draws(cls, setting: Setting) -> bool:
        """What has theorems of its own is for a panel."""
        own = (c.model_class for c in setting.curves if c.model == setting.model)
        return super().draws(setting) and not any(model.has_theorem() for model in own)

    def problems(self, config: Config) -> Iterator[Problem]:
        for base in self.bases:
            yield from self.arm_problems(config.settings[base])

    def needs(self, config: Config) -> Needs:
        return Needs(self.bases, self.bases, self.bases, self.bases)

    def drawing(self, config: Config) -> dict[str, Any]:
        return {"panels": [self._panel(drawn) for drawn in self._drawn(config)]}

    def _panel(self, drawn: Sequence[Curve]) -> dict[str, Any]:
        arms, layers = [curve.arm for curve in drawn], drawn[0].layers
        return {
            "setting": drawn[0].setting,
            "model": drawn[0].model,
            "title": drawn[0].model.capitalize() + (f", {layers} layers" if layers > 1 else ""),
            "layers": layers,
            "arms": arms,
            "dashed": "theorem",
            "dashed_label": DASHED,
            "dashed_arms": arms,
            "overlay": "none",
            "bayes": True,
        }

    def _drawn(self, config: Config) -> list[list[Curve]]:
        """The curves of every panel."""
        found = []
        for base in self.bases:
            setting = config.settings[base]
            arms = self.block.get("arms", setting.arms)
            found += [setting.drawn(setting.model, layers, arms) for layers in setting.depths]
        return found

    def curves(self, config: Config) -> list[Curve]:
        return [curve for drawn in self._drawn(config) for curve in drawn]

    def scored(self, config: Config) -> list[Curve]:
        """Once, on the setting's own figure."""
        return self.curves(config) if self.bases == [self.name] else []

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_panels(drawing["panels"], tables, note)


KIND = AgainstLinear
