"""Attention heads: risk against the number of heads of softmax attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw.sizes import draw_sizes
from . import ARMS, LENGTHS, Figure, Needs, Problem, Tables, numbers, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve

KEY = "attention_heads"


class AttentionHeads(Figure):
    """A panel per n: one setting with other numbers of heads."""

    subject = "settings whose first model has attention_heads"
    properties: ClassVar = {
        "setting": text("The setting whose attention heads are varied"),
        "attention_heads": numbers("Numbers of heads", "integer", minimum=1),
        "n": LENGTHS,
        "arms": ARMS,
    }
    required = ("setting", "attention_heads", "n")

    @classmethod
    def draws(cls, setting: Setting) -> bool:
        """What has attention heads."""
        models = [curve.model_class for curve in setting.curves if curve.model == setting.model]
        return super().draws(setting) and any(KEY in model.keys for model in models)

    def problems(self, config: Config) -> Iterator[Problem]:
        setting = config.settings[self.block["setting"]]
        path = f"settings.{setting.name}"
        for n in self.block["n"]:
            if n not in setting.n:
                yield "n", f"{n} is not in {path}.n; add it there, or remove it"
        yield from self.arm_problems(setting)

    def _drawn(self, setting: Setting) -> list[Curve]:
        arms = self.block.get("arms", setting.arms)
        return setting.drawn(setting.model, setting.depths[0], arms)

    def _members(self, settings: Mapping[str, Setting]) -> list[tuple[int, str]]:
        """Heads and setting: the base itself has some number of them."""
        base = settings[self.block["setting"]]
        own = next(dict(curve.sizes)[KEY] for curve in base.curves if curve.model == base.model)
        return [
            (heads, base.name if heads == own else f"{self.name}.{heads}")
            for heads in sorted(self.block[KEY])
        ]

    def varied(self, settings: Mapping[str, Setting]) -> list[Setting]:
        base = settings[self.block["setting"]]
        arms = self.block.get("arms", base.arms)
        return [
            base.resized(name, self.block["n"], arms, base.depths[0], **{KEY: heads})
            for heads, name in self._members(settings)
            if name != base.name
        ]

    def needs(self, config: Config) -> Needs:
        base = [self.block["setting"]]
        return Needs(base, [name for _, name in self._members(config.settings)], base, base)

    def drawing(self, config: Config) -> dict[str, Any]:
        base = config.settings[self.block["setting"]]
        drawn = self._drawn(base)
        return {
            "setting": base.name,
            "model": drawn[0].model,
            "arms": [curve.arm for curve in drawn],
            "n": list(self.block["n"]),
            "points": [
                [heads, name, drawn[0].layers] for heads, name in self._members(config.settings)
            ],
            "axis": "attention heads $H$",
            "symbol": "H",
            "logarithmic": True,
        }

    def curves(self, config: Config) -> list[Curve]:
        made = [config.settings[name] for _, name in self._members(config.settings)]
        return [curve for setting in made for curve in self._drawn(setting)]

    def scored(self, config: Config) -> list[Curve]:
        """All but the base's, which is on its own figure."""
        return [curve for curve in self.curves(config) if curve.setting != self.block["setting"]]

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_sizes(drawing, tables, note)


KIND = AttentionHeads
