"""Against linear: a model without theorems beside the theorems of linear attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from . import ARMS, Problem, names
from .panel import Panels

if TYPE_CHECKING:
    from .hints import Config, Setting

DASHED = "linear, theorem"


class AgainstLinear(Panels):
    """A panel per setting and depth: risks of its first model."""

    subject = "settings whose first model has no theorem"
    may_share_name = True
    scored = Panels.scored_once
    properties: ClassVar = {
        "settings": names("The settings that are drawn; the figure's own name where left out"),
        "arms": ARMS,
    }

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        """Models with theorems are drawn by kind panel."""
        own = (c.model_class for c in setting.curves if c.model == setting.model)
        return super().can_draw(setting) and not any(model.has_theorem() for model in own)

    def problems(self, config: Config) -> Iterator[Problem]:
        for base in self.setting_names:
            yield from self.arm_problems(config.settings[base])

    def panels(self, config: Config) -> list[dict[str, Any]]:
        return [
            self._panel(config.settings[base], layers)
            for base in self.setting_names
            for layers in config.settings[base].depths
        ]

    def _panel(self, setting: Setting, layers: int) -> dict[str, Any]:
        drawn = setting.select_curves(setting.model, layers, self.block.get("arms", setting.arms))
        arms = [curve.arm for curve in drawn]
        return {
            "setting": setting.name,
            "model": setting.model,
            "title": setting.model.capitalize() + (f", {layers} layers" if layers > 1 else ""),
            "layers": layers,
            "arms": arms,
            "dashed": "theorem",
            "dashed_label": DASHED,
            "dashed_arms": arms,
            "overlay": "none",
            "bayes": True,
        }


KIND = AgainstLinear
