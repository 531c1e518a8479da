"""The figure of Assumption 1: what it costs one-layer attention, against its exact optimum."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .describe import describe
from .spec import TaskMixture
from .style import ARM_STYLE, PANEL_SIZE, darker, framed, marked, use_style

ARMS = ("plain", "finetune", "joint")  # of Theorems 1–3; Theorem 4 does without the assumption
ROW_HEIGHT = 2.2  # inches


def draw_assumption1(mixtures: Sequence[TaskMixture], theory: pd.DataFrame, note: str) -> Figure:
    """A column per setting: risks above, below them how far the theorem is above the optimum."""
    use_style()
    size = len(mixtures) * PANEL_SIZE[0], 2 * ROW_HEIGHT
    figure, body = framed(*size, _legend(), note)
    axes = body.subplots(2, len(mixtures), squeeze=False, sharex=True)
    for i, (mix, (upper, lower)) in enumerate(zip(mixtures, axes.T, strict=True)):
        _draw_column(upper, lower, theory[theory.setting == mix.name])
        base = mix.name.split(".", 1)[1]
        upper.set_title(f"({chr(ord('a') + i)}) {base}\n{describe(mix)}")
    axes[0, 0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    axes[1, 0].set_ylabel("theorem above optimum, %")
    sns.despine(body)
    return figure


def _draw_column(upper: Axes, lower: Axes, theory: pd.DataFrame) -> None:
    for arm in ARMS:
        theorem, optimum = (
            theory[(theory.arm == arm) & (theory.curve == curve)].set_index("n").normalized
            for curve in ("theorem", "optimum")
        )
        upper.semilogx(optimum.index, optimum, "-", **marked(arm))
        upper.semilogx(theorem.index, theorem, "--", color=darker(arm), zorder=3)
        cost = 100 * (theorem / optimum - 1)
        lower.semilogx(cost.index, cost, "-", **marked(arm))
    upper.set_ylim(bottom=0)
    lower.axhline(0, color="0.6", lw=0.8, zorder=0)
    lower.minorticks_off()
    lower.set_xlabel("context length $n$")


def _legend() -> list[Line2D]:
    handles = [Line2D([], [], label=ARM_STYLE[arm][2], **marked(arm)) for arm in ARMS]
    handles.append(Line2D([], [], color="0.2", ls="-", label="solid: exact optimum"))
    handles.append(Line2D([], [], color="0.2", ls="--", label="dashed: Theorems 1–3"))
    return handles
