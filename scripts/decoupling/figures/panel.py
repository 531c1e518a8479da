"""A panel: risk against context length, trained and by theorem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..theory.theorems import CLOSED_FORMS
from . import ARMS, BAYES, Figure, Problem, Tables, style, text
from .lines import COMPUTED, draw_panels

if TYPE_CHECKING:
    from .hints import Config, Curve, MplFigure, Setting


class Panels(Figure):
    """A figure of panels with lines against n, defined by `panels`."""

    def panels(self, config: Config) -> list[dict[str, Any]]:
        """Arguments of `lines.draw_panels`, for each panel."""
        raise NotImplementedError

    def plot_spec(self, config: Config) -> dict[str, Any]:
        return {"panels": self.panels(config)}

    def needs(self, config: Config) -> dict[str, list[str]]:
        panels = self.panels(config)
        everything = _settings(panels)
        return {
            "specs": everything,
            "risks": everything,
            "theory": _settings(panel for panel in panels if panel["dashed"] in COMPUTED),
            "bayes": _settings(panel for panel in panels if panel["bayes"]),
            "published": _settings(panel for panel in panels if panel["overlay"] == "published"),
        }

    def curves(self, config: Config) -> list[Curve]:
        found = []
        for panel in self.panels(config):
            setting = config.settings[panel["setting"]]
            found += setting.select_curves(panel["model"], panel["layers"], panel["arms"])
            if panel["dashed"] in setting.models and panel["dashed"] != panel["model"]:
                arms = [arm for arm in panel["arms"] if arm in panel["dashed_arms"]]
                found += setting.select_curves(panel["dashed"], 1, arms)
        return found

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        return draw_panels(plot_spec["panels"], tables, note)


def _settings(panels: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({panel["setting"] for panel in panels})


class Panel(Panels):
    """One setting, a panel for each of its depths."""

    may_share_name = True
    properties: ClassVar = {
        "setting": text("The setting a panel draws; the figure's own name where left out"),
        "title": text("First line of the panel's title"),
        "arms": ARMS,
        "dashed": {"$ref": "#/$defs/dashed"},
        "dashed_arms": ARMS,
        "overlay": {
            "description": "published for hollow markers at the authors' published risks, or none"
            " (the default)",
            "enum": ["published", "none"],
        },
        "bayes": BAYES,
    }

    def problems(self, config: Config) -> Iterator[Problem]:
        setting, path = config.settings[self.setting_names[0]], f"settings.{self.setting_names[0]}"
        arms = self.block.get("arms", setting.arms)
        yield from self.arm_problems(setting)
        title = self.block.get("title", "")
        if "$" in title and not style.is_mathtext(title):
            yield "title", f"{title!r} is no formula; write \\$ for a dollar sign"
        for arm in self.block.get("dashed_arms", []):
            if arm not in arms:
                yield "dashed_arms", f"{arm} is not among the arms of the panel; remove it"
        yield from self._comparison_problems(setting, path, arms, config)

    def _comparison_problems(
        self, setting: Setting, path: str, arms: Sequence[str], config: Config
    ) -> Iterator[Problem]:
        dashed = self.block.get("dashed", "none")
        if dashed not in ("none", *COMPUTED, *setting.models):
            yield "dashed", f"{path}.models lacks {dashed}; add it"
        asked = self.block.get("dashed_arms", arms if dashed == "centred" else [])
        without = [arm for arm in asked if arm not in CLOSED_FORMS.get(dashed, asked)]
        if without:
            known = ", ".join(arm for arm in CLOSED_FORMS[dashed] if arm in arms)
            fix = f"use dashed_arms: [{known}]" if known else "use none"
            yield "dashed", f"{dashed} has no curve of {', '.join(without)}; {fix}"
        depths = self._depths(config)
        drawn = [curve.model_class for curve in setting.curves if curve.model == setting.model]
        if dashed in COMPUTED and 1 in depths and not any(model.has_theorem() for model in drawn):
            text = f"belongs to linear attention, not to {setting.model}"
            yield "dashed", f"{dashed} {text}; use none, or kind: against_linear"
        elif dashed != "none" and depths and 1 not in depths:
            yield "dashed", f"{dashed} is not drawn beside more layers; use none"
        if self.block.get("overlay") == "published":
            if 1 not in depths:
                yield "overlay", "published risks are of one layer; remove it"
            elif not any((self.setting_names[0], arm) in config.published for arm in arms):
                yield "overlay", f"nobody published risks of these arms in {path}; remove it"

    def panels(self, config: Config) -> list[dict[str, Any]]:
        return [self._panel(config, depth) for depth in self._depths(config)]

    def _depths(self, config: Config) -> list[int]:
        return config.settings[self.setting_names[0]].depths

    def _panel(self, config: Config, layers: int) -> dict[str, Any]:
        """A panel of one depth. Only one layer has dashed lines and an overlay."""
        setting = config.settings[self.setting_names[0]]
        drawn = setting.select_curves(setting.model, layers, self.block.get("arms", setting.arms))
        arms = [curve.arm for curve in drawn]
        one_layer = layers == 1
        has_theorem = any(curve.model_class.has_theorem() for curve in drawn)
        default = "theorem" if has_theorem else "none"
        return {
            "setting": self.setting_names[0],
            "model": setting.model,
            "title": self._title(self._depths(config), layers),
            "layers": layers,
            "arms": arms,
            "dashed": self.block.get("dashed", default) if one_layer else "none",
            "dashed_arms": list(self.block.get("dashed_arms", arms)),
            "overlay": self.block.get("overlay", "none") if one_layer else "none",
            "bayes": self.block.get("bayes", False),
        }

    def _title(self, depths: Sequence[int], layers: int) -> str:
        """The config's title, else the figure's name; with the depth if that is needed."""
        title = self.block.get("title", self.name)
        if len(depths) > 1 or ("title" not in self.block and layers > 1):
            title += f", {layers} layer{'s' if layers > 1 else ''}"
        return title

    def scored(self, config: Config) -> list[Curve]:
        return self.curves(config)


KIND = Panel
