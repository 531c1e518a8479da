"""A panel: risk against context length.

Solid lines are trained, dashed ones theorems, the optimum or another model, the dotted one the
Bayes-optimal predictor; hollow markers are the authors' published risks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw import style
from ..draw.describe import describe
from ..theory.theorems import CLOSED_FORMS
from . import ARMS, BAYES, Figure, Needs, Problem, Tables, text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

    from ..plan.config import Config, Curve, Setting

COMPUTED = {  # dashed lines, and their label
    "theorem": "theorem",
    "optimum": "exact optimum",
    "centred": "centred theorem",
}
TITLE_WIDTH = 48  # letters that fit above a panel
VISIBLE_ERROR = 0.01  # of the y axis' span: smaller standard errors hide behind the marker
HOLLOW = {"ms": 7, "mfc": "none", "mew": 0.8, "ls": "none"}


class Panel(Figure):
    """One setting, a panel for each of its depths."""

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
        setting, path = config.settings[self.bases[0]], f"settings.{self.bases[0]}"
        arms = self.block.get("arms", setting.arms)
        for arm in arms:
            if arm not in setting.arms:
                yield "arms", f"{arm} is not trained in {path}; add it to {path}.arms"
            elif "arms" in self.block and not setting.has(setting.model, arm):
                yield "arms", f"the {setting.model} model has no task heads; remove {arm}"
        if not self._depths(config):
            yield "setting", f"the {setting.model} model has none of the arms of {path}; add one"
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
        if dashed == "centred":
            known = CLOSED_FORMS["centred"]
            without = [a for a in self.block.get("dashed_arms", arms) if a not in known]
            if without:
                fix = f"list in dashed_arms only arms of {', '.join(known)}"
                yield "dashed", f"centred has no curve of {', '.join(without)}; {fix}"
        depths = self._depths(config)
        if dashed != "none" and depths and 1 not in depths:
            yield "dashed", f"{dashed} is of one layer; use none"
        if self.block.get("overlay") == "published":
            if 1 not in depths:
                yield "overlay", "published risks are of one layer; remove it"
            elif not any((self.bases[0], arm) in config.published for arm in arms):
                yield "overlay", f"nobody published risks of these arms in {path}; remove it"

    def needs(self, config: Config) -> Needs:
        return panel_needs(self.drawing(config)["panels"])

    def drawing(self, config: Config) -> dict[str, Any]:
        return {"panels": [self._panel(config, depth) for depth in self._depths(config)]}

    def _depths(self, config: Config) -> list[int]:
        """Of the setting's first model."""
        setting = config.settings[self.bases[0]]
        return list(dict.fromkeys(c.layers for c in setting.curves if c.name == setting.model))

    def _panel(self, config: Config, layers: int) -> dict[str, Any]:
        """A panel of one depth. What only one layer has, deeper panels go without."""
        setting = config.settings[self.bases[0]]
        drawn = setting.drawn(setting.model, layers, self.block.get("arms", setting.arms))
        arms = [curve.arm for curve in drawn]
        one_layer = layers == 1
        default = "theorem" if any("theorem" in c.model.references for c in drawn) else "none"
        return {
            "setting": self.bases[0],
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
        """As the config has it, else the figure's name; with the depth where that does not say
        it."""
        title = self.block.get("title", self.name)
        if len(depths) > 1 or ("title" not in self.block and layers > 1):
            title += f", {layers} layer{'s' if layers > 1 else ''}"
        return title

    def curves(self, config: Config) -> list[Curve]:
        found = []
        for panel in self.drawing(config)["panels"]:
            setting = config.settings[panel["setting"]]
            found += setting.drawn(panel["model"], panel["layers"], panel["arms"])
            if panel["dashed"] in setting.models and panel["dashed"] != panel["model"]:
                arms = [arm for arm in panel["arms"] if arm in panel["dashed_arms"]]
                found += setting.drawn(panel["dashed"], 1, arms)
        return found

    scored = curves

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_panels(drawing["panels"], tables, note)


KIND = Panel


def panel_needs(panels: Sequence[Mapping[str, Any]]) -> Needs:
    def settings(wanted) -> list[str]:
        return sorted({panel["setting"] for panel in panels if wanted(panel)})

    everything = settings(lambda panel: True)
    return Needs(
        specs=everything,
        risks=everything,
        theory=settings(lambda panel: panel["dashed"] in COMPUTED),
        bayes=settings(lambda panel: panel["bayes"]),
        published=any(panel["overlay"] == "published" for panel in panels),
    )


def trained(tables: Tables, setting: str, model: str, layers: int, arm: str) -> pd.DataFrame:
    """A trained curve."""
    t = tables.risks
    rows = (t.setting == setting) & (t.arm == arm) & (t.model == model) & (t.layers == layers)
    return t[rows].sort_values("n")


def computed(tables: Tables, setting: str, arm: str, reference: str) -> pd.DataFrame:
    t = tables.theory
    return t[(t.setting == setting) & (t.arm == arm) & (t.curve == reference)].sort_values("n")


def _solid(tables: Tables, panel: Mapping[str, Any], arm: str) -> pd.DataFrame:
    return trained(tables, panel["setting"], panel["model"], panel["layers"], arm)


def _dashed(tables: Tables, panel: Mapping[str, Any], arm: str) -> pd.DataFrame:
    """What an arm is compared with; empty where there is nothing."""
    if arm not in panel["dashed_arms"]:
        return tables.risks[:0]
    if panel["dashed"] in COMPUTED:
        return computed(tables, panel["setting"], arm, panel["dashed"])
    return trained(tables, panel["setting"], panel["dashed"], 1, arm)


def _published(tables: Tables, panel: Mapping[str, Any]) -> pd.DataFrame:
    t = tables.published
    rows = (t.setting == panel["setting"]) & (t.model == panel["model"])
    points = t[rows & t.arm.isin(panel["arms"])].sort_values("n")
    power = tables.specs[panel["setting"]].label_power
    return points.assign(normalized=points.risk / power)


def draw_panels(panels: Sequence[Mapping[str, Any]], tables: Tables, note: str) -> Drawn:
    style.use_style()
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = -(-len(panels) // columns)
    width = columns * style.PANEL_SIZE[0]
    figure, body = style.framed(width, rows * style.PANEL_SIZE[1], _legend(panels, tables), note)
    axes = body.subplots(rows, columns, squeeze=False)
    for i, (panel, ax) in enumerate(zip(panels, axes.flat, strict=False)):
        letter = f"({_letter(i)}) " if len(panels) > 1 else ""
        _draw_panel(ax, panel, tables, letter)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    return figure


def _letter(i: int) -> str:
    return chr(ord("a") + i)


def _draw_panel(ax: Axes, panel: Mapping[str, Any], tables: Tables, letter: str) -> None:
    import pandas as pd

    shown = []
    for arm in panel["arms"]:
        solid, dashed = _solid(tables, panel, arm), _dashed(tables, panel, arm)
        plot_trained(ax, solid, arm)
        _plot_dashed(ax, dashed, arm)
        shown += [solid] if panel["dashed"] in ("none", *COMPUTED) else [solid, dashed]
    if panel["overlay"] == "published":
        _plot_published(ax, _published(tables, panel))
    if panel["bayes"]:
        bayes = tables.bayes
        style.plot_bayes(ax, bayes[bayes.setting == panel["setting"]].sort_values("n"), "n")
    _draw_errors(ax, panel, tables)
    style.note_diverged(ax, pd.concat(shown), "n", "n", panel["model"])
    title = textwrap.fill(letter + panel["title"], TITLE_WIDTH)
    ax.set_title(f"{title}\n{describe(tables.specs[panel['setting']])}")
    finish(ax)


def plot_trained(ax: Axes, curve: pd.DataFrame, arm: str) -> None:
    ax.plot(curve.n, curve.normalized, "-", **style.marked(arm))


def _plot_dashed(ax: Axes, curve: pd.DataFrame, arm: str) -> None:
    marker = "_" if len(curve) == 1 else None  # a line through one point would not be seen
    ax.plot(
        curve.n, curve.normalized, "--", color=style.darker(arm), marker=marker, ms=12, zorder=3
    )


def _plot_published(ax: Axes, points: pd.DataFrame) -> None:
    """The authors' attention models, in markers large enough to be seen around ours."""
    for arm, rows in points.groupby("arm"):
        colour, marker, _ = style.ARM_STYLE[arm]
        ax.plot(rows.n, rows.normalized, marker=marker, mec=colour, zorder=4, **HOLLOW)


def _draw_errors(ax: Axes, panel: Mapping[str, Any], tables: Tables) -> None:
    """Two standard errors of held-out risks, where they would be seen."""
    low, high = ax.get_ylim()
    for arm in panel["arms"]:
        curve = _solid(tables, panel, arm)
        error = 2 * curve.normalized_se
        if error.max() > VISIBLE_ERROR * (high - low):
            ax.errorbar(
                curve.n, curve.normalized, error, fmt="none", color=style.ARM_STYLE[arm][0], lw=0.8
            )


def finish(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("context length $n$")
    ax.set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    style.despine([ax])


def _legend(panels: Sequence[Mapping[str, Any]], tables: Tables) -> list[Line2D]:
    shown = {arm for panel in panels for arm in panel["arms"]}
    handles = [style.arm_key(arm) for arm in style.ARM_STYLE if arm in shown]
    dashed: dict[str, list[str]] = {}  # what it is, and in which panels
    for i, panel in enumerate(panels):
        if any(len(_dashed(tables, panel, arm)) for arm in panel["arms"]):
            label = COMPUTED.get(panel["dashed"], f"{panel['dashed']} model")
            dashed.setdefault(label, []).append(_letter(i))
    if dashed:
        where = [f"{label} ({', '.join(letters)})" for label, letters in dashed.items()]
        solid = " or ".join(sorted({panel["model"] for panel in panels}))
        handles.append(style.line_key("-", f"solid: {solid}, trained"))
        handles.append(
            style.line_key("--", f"dashed: {', '.join(where if len(dashed) > 1 else dashed)}")
        )
    if any(panel["overlay"] == "published" for panel in panels):
        handles.append(style.key("hollow: published", marker="o", mec="0.2", **HOLLOW))
    if any(panel["bayes"] for panel in panels):
        handles.append(style.key(**style.BAYES_STYLE))
    return handles
