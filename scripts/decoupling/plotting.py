"""Figures: one style, panels of risk against context length, pages and the overview.

Solid lines are trained, dashed ones theorems, the optimum or the reduced model; an arm has the
same colour and marker everywhere. Colours are Okabe and Ito's, safe for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from .results import atomic_path
from .spec import TaskMixture

ARM_STYLE = {  # colour, marker, label
    "plain": ("#0072B2", "o", "plain"),
    "finetune": ("#E69F00", "s", "fine-tuned prompts"),
    "joint": ("#009E73", "^", "joint prompts"),
    "joint_heads": ("#D55E00", "D", "joint prompts and heads"),
    "heads": ("#CC79A7", "v", "joint heads"),
    "finetune_heads": ("#56B4E9", "P", "fine-tuned prompts and heads"),
    "finetune_only_heads": ("#000000", "X", "fine-tuned heads"),
}
DASHED_LABEL = {"theorem": "theorem", "optimum": "exact optimum", "reduced": "reduced model"}
GREY = "0.6"
PANEL_SIZE = (3.4, 2.9)  # inches; 3.4 is a column's width
VISIBLE_ERROR = 0.01  # of the y axis' span: smaller standard errors hide behind the marker

RC = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "mathtext.fontset": "cm",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}


@dataclass(frozen=True, eq=False)
class Tables:
    """What a figure is drawn from, for all the settings on it."""

    specs: Mapping[str, TaskMixture]
    risks: pd.DataFrame
    theory: pd.DataFrame

    def trained(self, panel: Mapping[str, Any], arm: str, model: str = "attention") -> pd.DataFrame:
        t = self.risks
        layers = panel["layers"] if model == "attention" else 1
        rows = (t.setting == panel["setting"]) & (t.arm == arm)
        return t[rows & (t.model == model) & (t.layers == layers)].sort_values("n")

    def computed(self, setting: str, arm: str, curve: str) -> pd.DataFrame:
        t = self.theory
        return t[(t.setting == setting) & (t.arm == arm) & (t.curve == curve)].sort_values("n")


def draw(figure: Mapping[str, Any], tables: Tables, note: str) -> Figure:
    """A figure of the config: a panel, a page of panels, or the overview."""
    sns.set_theme(context="paper", style="ticks", rc=RC)
    if figure["layout"] == "overview":
        (panel,) = figure["panels"]
        return _overview(panel, tables, note)
    return _page(figure["panels"], tables, note)


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write both formats without a date, so that the same data give the same bytes."""
    for path, metadata in ((pdf, {"CreationDate": None, "Producer": None}), (png, None)):
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)


def describe(mix: TaskMixture) -> str:
    """The setting in a line: d, K, μ, Σ, π and σ²."""
    means = ", ".join(_multiple(mean, np.ones(mix.dim), r"\mathbf{1}") for mean in mix.means)
    base, symbol = np.eye(mix.dim), "I"
    if not all(_ratio(cov, base) for cov in mix.covs):
        base = mix.covs[0]
        symbol = "D" if np.array_equal(base, np.diag(np.diag(base))) else r"\Sigma_1"
    covs = ", ".join(_multiple(cov, base, symbol) for cov in mix.covs)
    weights = ", ".join(f"{weight:.3g}" for weight in mix.weights)
    sigma_x = "" if np.array_equal(mix.sigma_x, np.eye(mix.dim)) else r",\ \Sigma_x\neq I"
    return (
        rf"$d={mix.dim},\ \mu_k={means},\ \Sigma_k={covs},$" + "\n"
        rf"$\pi={weights},\ \sigma^2={mix.noise_var:.3g}{sigma_x}$"
    )


def _ratio(value: np.ndarray, unit: np.ndarray) -> float | None:
    """c where value = c·unit, else None."""
    ratio = (value * unit).sum() / (unit * unit).sum()
    return ratio if np.allclose(value, ratio * unit, rtol=1e-12) else None


def _multiple(value: np.ndarray, unit: np.ndarray, symbol: str) -> str:
    ratio = _ratio(value, unit)
    if ratio is None:
        return r"\ast"
    if ratio == 0:
        return "0"
    return symbol if ratio == 1 else rf"{ratio:.4g}\,{symbol}"


def _page(panels: Sequence[Mapping[str, Any]], tables: Tables, note: str) -> Figure:
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = -(-len(panels) // columns)
    width = columns * PANEL_SIZE[0]
    figure, body = _framed(width, rows * PANEL_SIZE[1], _legend(panels), note)
    axes = body.subplots(rows, columns, squeeze=False)
    for i, (panel, ax) in enumerate(zip(panels, axes.flat, strict=False)):
        letter = f"({chr(ord('a') + i)}) " if len(panels) > 1 else ""
        _draw_panel(ax, panel, tables, letter)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    return figure


def _framed(
    width: float, height: float, handles: Sequence[Line2D], note: str
) -> tuple[Figure, SubFigure]:
    """A figure with a body of that many inches, and below it the legend and the small print."""
    columns = max(2, round(width / 2.3))
    foot_height = 0.25 + 0.16 * -(-len(handles) // columns)
    figure = Figure(figsize=(width, height + foot_height), layout="constrained")
    body, foot = figure.subfigures(2, 1, height_ratios=[height, foot_height])
    if handles:
        foot.legend(handles=handles, loc="upper center", ncols=columns, frameon=False)
    foot.text(0.5, 0.02, note, fontsize=6, color="0.35", ha="center", va="bottom")
    return figure, body


def _draw_panel(ax: Axes, panel: Mapping[str, Any], tables: Tables, letter: str) -> None:
    gaps = []
    for arm in panel["arms"]:
        curve = tables.trained(panel, arm)
        _plot_trained(ax, curve, arm)
        if panel["dashed"] != "none" and arm in panel["dashed_arms"]:
            _plot_dashed(ax, panel, tables, arm)
        gaps += [f"{arm} at n = {n}" for n in curve[curve.seeds_ok == 0].n]
    _draw_errors(ax, panel, tables)
    if gaps:
        text = "all seeds diverged: " + "; ".join(gaps)
        ax.text(0.5, 0.97, text, transform=ax.transAxes, ha="center", va="top", fontsize=6)
    title = panel["title"] or panel["name"]
    ax.set_title(f"{letter}{title}\n{describe(tables.specs[panel['setting']])}")
    _finish(ax)


def _plot_trained(ax: Axes, curve: pd.DataFrame, arm: str) -> None:
    colour, marker, _ = ARM_STYLE[arm]
    ax.plot(curve.n, curve.normalized, "-", color=colour, marker=marker, mec="white", mew=0.4)


def _plot_dashed(ax: Axes, panel: Mapping[str, Any], tables: Tables, arm: str) -> None:
    if panel["dashed"] == "reduced":
        curve = tables.trained(panel, arm, "reduced")
    else:
        curve = tables.computed(panel["setting"], arm, panel["dashed"])
    ax.plot(curve.n, curve.normalized, "--", color=_darker(ARM_STYLE[arm][0]), zorder=3)


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
    sns.despine(ax=ax)


def _legend(panels: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    shown = {arm for panel in panels for arm in panel["arms"]}
    handles = [
        Line2D([], [], color=colour, marker=marker, mec="white", mew=0.4, label=label)
        for arm, (colour, marker, label) in ARM_STYLE.items()
        if arm in shown
    ]
    dashed = sorted({panel["dashed"] for panel in panels} - {"none"})
    if dashed:
        label = " or ".join(DASHED_LABEL[kind] for kind in dashed)
        handles.append(Line2D([], [], color="0.2", ls="-", label="solid: attention, trained"))
        handles.append(Line2D([], [], color="0.2", ls="--", label=f"dashed: {label}"))
    return handles


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.6 * channel for channel in mpl.colors.to_rgb(colour))


def _overview(panel: Mapping[str, Any], tables: Tables, note: str) -> Figure:
    """The paper's Figure 1: every arm between plain, the upper, and Theorem 4, the lower bound."""
    figure, body = _framed(2 * PANEL_SIZE[0], 6.6, [], note)
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
        _plot_trained(ax, tables.trained(panel, arm), arm)
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
