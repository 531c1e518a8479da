"""Attention heads: risk against the number of heads of softmax attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from . import ARMS, LENGTHS, Problem, several, text
from .sizes import Sizes

if TYPE_CHECKING:
    from .hints import Config, Curve, Setting

KEY = "attention_heads"


class AttentionHeads(Sizes):
    """A panel per n: one setting with several numbers of heads."""

    subject = "settings whose first model has attention_heads"
    properties: ClassVar = {
        "setting": text("The setting whose attention heads are varied"),
        "attention_heads": several("Numbers of heads", "integer", minimum=1),
        "n": LENGTHS,
        "arms": ARMS,
    }
    required = ("setting", "attention_heads", "n")
    axis, symbol, logarithmic = "attention heads $H$", "H", True

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        """Only settings of models with attention heads."""
        models = [curve.model_class for curve in setting.curves if curve.model == setting.model]
        return super().can_draw(setting) and any(KEY in model.keys for model in models)

    def problems(self, config: Config) -> Iterator[Problem]:
        setting = config.settings[self.block["setting"]]
        path = f"settings.{setting.name}"
        for n in self.block["n"]:
            if n not in setting.n:
                yield "n", f"{n} is not in {path}.n; add it there, or remove it"
        yield from super().problems(config)

    def points(self, settings: Mapping[str, Setting]) -> list[tuple[int, str, int]]:
        """The setting itself is one of the points."""
        base = settings[self.block["setting"]]
        own = next(dict(curve.sizes)[KEY] for curve in base.curves if curve.model == base.model)
        return [
            (heads, base.name if heads == own else f"{self.name}.{heads}", base.depths[0])
            for heads in sorted(self.block[KEY])
        ]

    def derived(self, settings: Mapping[str, Setting]) -> list[Setting]:
        base = settings[self.block["setting"]]
        same = {
            "n": tuple(self.block["n"]),
            "models": (base.model,),
            "arms": tuple(self.arms(base)),
        }
        return [
            replace(base, name=name, layers=(layers,), sizes={**base.sizes, KEY: heads}, **same)
            for heads, name, layers in self.points(settings)
            if name != base.name
        ]

    def scored(self, config: Config) -> list[Curve]:
        """All curves except the setting's own, which its figure scores."""
        return [curve for curve in self.curves(config) if curve.setting != self.block["setting"]]


KIND = AttentionHeads
