"""Against linear: a model without theorems beside the theorems of linear attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw.panels import draw_panels
from . import ARMS, Figure, Needs, Problem, Tables, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from ..plan.config import Config, Curve, Setting

DASHED = "theorems of linear attention"


class AgainstLinear(Figure):
    """A panel per setting: risks of its first model, of its least depth."""

    own = True
    properties: ClassVar = {
        "settings": names("The settings that are drawn, a panel each"),
        "arms": ARMS,
    }
    required = ("settings",)

    @classmethod
    def draws(cls, setting: Setting) -> bool:
        """What has theorems of its own is for a panel."""
        linear = any(c.model.exact() for c in setting.curves if c.name == setting.model)
        return super().draws(setting) and not linear

    def problems(self, config: Config) -> Iterator[Problem]:
        for base in self.bases:
            setting = config.settings[base]
            for arm in self.block.get("arms", []):
                if arm not in setting.arms:
                    yield "arms", f"{arm} is not trained in settings.{base}; add it to its arms"
                elif reason := setting.lacks(arm):
                    yield "arms", f"the {setting.model} model {reason}; remove {arm}"

    def needs(self, config: Config) -> Needs:
        return Needs(self.bases, self.bases, self.bases, self.bases)

    def drawing(self, config: Config) -> dict[str, Any]:
        return {"panels": [self._panel(config, base) for base in self.bases]}

    def _panel(self, config: Config, base: str) -> dict[str, Any]:
        drawn = self._drawn(config, base)
        arms = [curve.arm for curve in drawn]
        title = f"{drawn[0].name.capitalize()} attention"
        return {
            "setting": base,
            "model": drawn[0].name,
            "title": title,
            "layers": drawn[0].layers,
            "arms": arms,
            "dashed": "theorem",
            "dashed_label": DASHED,
            "dashed_arms": arms,
            "overlay": "none",
            "bayes": True,
        }

    def _drawn(self, config: Config, base: str) -> list[Curve]:
        setting = config.settings[base]
        layers = min(curve.layers for curve in setting.curves if curve.name == setting.model)
        return setting.drawn(setting.model, layers, self.block.get("arms", setting.arms))

    def curves(self, config: Config) -> list[Curve]:
        return [curve for base in self.bases for curve in self._drawn(config, base)]

    def scored(self, config: Config) -> list[Curve]:
        """Once, on the setting's own figure."""
        return self.curves(config) if self.bases == [self.name] else []

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_panels(drawing["panels"], tables, note)


KIND = AgainstLinear
