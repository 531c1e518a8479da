"""Figures: panels of risk against context length, pages and the overview.

Solid lines are trained, dashed ones theorems, the optimum or the reduced model, the dotted one the
Bayes-optimal predictor; hollow markers are the authors' published risks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .describe import describe
from .spec import TaskMixture
from .style import (
    ARM_STYLE,
    BAYES_STYLE,
    PANEL_SIZE,
    darker,
    framed,
    marked,
    note_gaps,
    plot_bayes,
    use_style,
)

DASHED_LABEL = {"theorem": "theorem", "optimum": "exact optimum", "reduced": "reduced model"}
GREY = "0.6"
TITLE_WIDTH = 48  # letters that fit above a panel
VISIBLE_ERROR = 0.01  # of the y axis' span: smaller standard errors hide behind the marker


@dataclass(frozen=True, eq=False)
class Tables:
    """What a figure is drawn from, for all the settings on it."""

    specs: Mapping[str, TaskMixture]
    risks: pd.DataFrame
    theory: pd.DataFrame
    published: pd.DataFrame
    bayes: pd.DataFrame

    def trained(self, panel: Mapping[str, Any], arm: str, model: str | None = None) -> pd.DataFrame:
        t, model = self.risks, model or panel["model"]
        layers = panel["layers"] if model == "attention" else 1
        rows = (t.setting == panel["setting"]) & (t.arm == arm)
        return t[rows & (t.model == model) & (t.layers == layers)].sort_values("n")

    def computed(self, setting: str, arm: str, curve: str) -> pd.DataFrame:
        t = self.theory
        return t[(t.setting == setting) & (t.arm == arm) & (t.curve == curve)].sort_values("n")

    def dashed(self, panel: Mapping[str, Any], arm: str) -> pd.DataFrame:
        """What an arm is compared with; empty where there is nothing."""
        if arm not in panel["dashed_arms"]:
            return self.risks[:0]
        if panel["dashed"] == "reduced":
            return self.trained(panel, arm, "reduced")
        return self.computed(panel["setting"], arm, panel["dashed"])

    def bayes_curve(self, setting: str) -> pd.DataFrame:
        return self.bayes[self.bayes.setting == setting].sort_values("n")

    def published_points(self, panel: Mapping[str, Any]) -> pd.DataFrame:
        t = self.published
        rows = (t.setting == panel["setting"]) & (t.model == "attention")
        points = t[rows & t.arm.isin(panel["arms"])].sort_values("n")
        power = self.specs[panel["setting"]].label_power
        return points.assign(normalized=points.risk / power)


def draw(figure: Mapping[str, Any], tables: Tables, note: str) -> Figure:
    """A figure of the config: a panel, a page of panels, or the overview."""
    use_style()
    if figure["layout"] == "overview":
        (panel,) = figure["panels"]
        return _overview(panel, tables, note)
    return _page(figure["panels"], tables, note)


def _page(panels: Sequence[Mapping[str, Any]], tables: Tables, note: str) -> Figure:
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = -(-len(panels) // columns)
    width = columns * PANEL_SIZE[0]
    figure, body = framed(width, rows * PANEL_SIZE[1], _legend(panels, tables), note)
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
    for arm in panel["arms"]:
        _plot_trained(ax, tables.trained(panel, arm), arm)
        _plot_dashed(ax, tables.dashed(panel, arm), arm)
    if panel["overlay"] == "published":
        _plot_published(ax, panel, tables)
    if panel["bayes"]:
        plot_bayes(ax, tables.bayes_curve(panel["setting"]), "n")
    _draw_errors(ax, panel, tables)
    models = [panel["model"], *(["reduced"] if panel["dashed"] == "reduced" else [])]
    trained = [tables.trained(panel, arm, model) for model in models for arm in panel["arms"]]
    note_gaps(ax, pd.concat(trained), "n", "n")
    title = textwrap.fill(letter + panel["title"], TITLE_WIDTH)
    ax.set_title(f"{title}\n{describe(tables.specs[panel['setting']])}")
    _finish(ax)


def _plot_trained(ax: Axes, curve: pd.DataFrame, arm: str) -> None:
    ax.plot(curve.n, curve.normalized, "-", **marked(arm))


def _plot_dashed(ax: Axes, curve: pd.DataFrame, arm: str) -> None:
    marker = "_" if len(curve) == 1 else None  # a line through one point would not be seen
    ax.plot(curve.n, curve.normalized, "--", color=darker(arm), marker=marker, ms=12, zorder=3)


def _plot_published(ax: Axes, panel: Mapping[str, Any], tables: Tables) -> None:
    """The authors' attention models, in markers large enough to be seen around ours."""
    for arm, rows in tables.published_points(panel).groupby("arm"):
        colour, marker, _ = ARM_STYLE[arm]
        style = {"marker": marker, "ms": 7, "mfc": "none", "mec": colour, "mew": 0.8}
        ax.plot(rows.n, rows.normalized, ls="none", zorder=4, **style)


def _draw_errors(ax: Axes, panel: Mapping[str, Any], tables: Tables) -> None:
    """Two standard errors of held-out risks, where they would be seen."""
    low, high = ax.get_ylim()
    for arm in panel["arms"]:
        curve = tables.trained(panel, arm)
        error = 2 * curve.risk_se * curve.normalized / curve.risk
        if error.max() > VISIBLE_ERROR * (high - low):
            ax.errorbar(
                curve.n, curve.normalized, error, fmt="none", color=ARM_STYLE[arm][0], lw=0.8
            )


def _finish(ax: Axes) -> None:
    ax.set_xlabel("context length $n$")
    ax.set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    sns.despine(ax=ax)


def _legend(panels: Sequence[Mapping[str, Any]], tables: Tables) -> list[Line2D]:
    shown = {arm for panel in panels for arm in panel["arms"]}
    handles = [
        Line2D([], [], label=label, **marked(arm))
        for arm, (_, _, label) in ARM_STYLE.items()
        if arm in shown
    ]
    dashed: dict[str, list[str]] = {}  # what it is, and in which panels
    for i, panel in enumerate(panels):
        if any(len(tables.dashed(panel, arm)) for arm in panel["arms"]):
            dashed.setdefault(DASHED_LABEL[panel["dashed"]], []).append(_letter(i))
    if dashed:
        where = [f"{kind} ({', '.join(letters)})" for kind, letters in dashed.items()]
        label = ", ".join(where if len(dashed) > 1 else dashed)
        solid = " or ".join(sorted({panel["model"] for panel in panels}))
        handles.append(Line2D([], [], color="0.2", ls="-", label=f"solid: {solid}, trained"))
        handles.append(Line2D([], [], color="0.2", ls="--", label=f"dashed: {label}"))
    if any(panel["overlay"] == "published" for panel in panels):
        style = {"ls": "none", "marker": "o", "ms": 7, "mfc": "none", "mec": "0.2", "mew": 0.8}
        handles.append(Line2D([], [], label="hollow: published", **style))
    if any(panel["bayes"] for panel in panels):
        handles.append(Line2D([], [], **BAYES_STYLE))
    return handles


def _overview(panel: Mapping[str, Any], tables: Tables, note: str) -> Figure:
    """The paper's Figure 1: every arm between plain, the upper, and Theorem 4, the lower bound."""
    figure, body = framed(2 * PANEL_SIZE[0], 6.6, [], note)
    grid = body.add_gridspec(3, 5, width_ratios=[0.5, 1, 1, 1, 1])
    places = {
        "plain": (grid[0, 2:4], "plain training: coupled"),
        "finetune": (grid[1, 1:3], "prompts fine-tuned"),
        "joint": (grid[1, 3:5], "prompts trained jointly"),
        "joint_heads": (grid[2, 2:4], "prompts and heads: decoupled"),
    }
    upper = tables.trained(panel, "plain")
    lower = tables.computed(panel["setting"], "joint_heads", "theorem")
    for arm, (place, title) in places.items():
        ax = body.add_subplot(place)
        ax.plot(upper.n, upper.normalized, "-", color=GREY)
        ax.plot(lower.n, lower.normalized, "--", color=GREY)
        curve = tables.trained(panel, arm)
        _plot_trained(ax, curve, arm)
        note_gaps(ax, curve, "n", "n")
        ax.set_title(title)
        _finish(ax)
    _draw_arrow(body.add_subplot(grid[:, 0]))
    body.suptitle(
        "Grey: plain training (solid) and Theorem 4 (dashed)\n"
        + describe(tables.specs[panel["setting"]]),
        fontsize=8,
    )
    return figure


def _draw_arrow(ax: Axes) -> None:
    ax.axis("off")
    style = {"arrowstyle": "<->", "color": "0.3", "lw": 1.5}
    ax.annotate("", (0.5, 0.02), (0.5, 0.98), xycoords="axes fraction", arrowprops=style)
    for height, word in ((0.85, "coupled"), (0.15, "decoupled")):
        ax.text(0.2, height, word, rotation=90, ha="center", va="center", color="0.3")
