"""The figure of noise: risks and gaps of the four arms against σ², trained and by theorem."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .describe import describe
from .gaps import GAPS, gap
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
from .theory import THEOREMS

CELL = (2.4, 2.1)  # inches


def draw_noise(
    mixtures: Sequence[TaskMixture],
    risks: pd.DataFrame,
    theory: pd.DataFrame,
    bayes: pd.DataFrame,
    note: str,
) -> Figure:
    """A column per n: risks above, gaps below. Without rows in `bayes` it is not drawn."""
    use_style()
    noise = {mix.name: mix.noise_var for mix in mixtures}
    tables = [
        table.assign(noise_var=table.setting.map(noise)).sort_values("noise_var")
        for table in (risks, theory[theory.curve == "theorem"], bayes)
    ]
    lengths = sorted(set(theory.n))
    size = max(len(lengths) * CELL[0], PANEL_SIZE[0]), 2 * CELL[1]
    figure, body = framed(*size, _legend(not bayes.empty), note)
    axes = body.subplots(2, len(lengths), squeeze=False, sharex=True, sharey="row")
    for n, (upper, lower) in zip(lengths, axes.T, strict=True):
        trained, theorem, best = (table[table.n == n] for table in tables)
        _draw_risks(upper, trained, theorem)
        if not best.empty:
            plot_bayes(upper, best, "noise_var")
        note_gaps(upper, trained, "noise_var", "$\\sigma^2$")
        _draw_gaps(lower, trained, theorem)
        upper.set_title(f"$n={n}$")
        lower.set_xlabel(r"label noise $\sigma^2$")
    axes[0, 0].set(ylabel=r"risk / $\mathrm{E}[y^2]$", ylim=(0, None))
    gap_label = "gap to the curve above\n" + r"/ $\mathrm{E}[y^2]$"
    axes[1, 0].set(ylabel=gap_label)
    if min(ax.dataLim.ymin for ax in axes[1]) >= 0:
        axes[1, 0].set_ylim(bottom=0)  # and not where a trained arm is above the one before it
    sns.despine(body)
    body.suptitle(describe(mixtures[0], noise=False).replace("\n", " "), fontsize=8)
    return figure


def _draw_risks(ax: Axes, trained: pd.DataFrame, theorem: pd.DataFrame) -> None:
    for arm in THEOREMS:
        rows, closed = trained[trained.arm == arm], theorem[theorem.arm == arm]
        ax.plot(rows.noise_var, rows.normalized, "-", **marked(arm))
        ax.plot(closed.noise_var, closed.normalized, "--", color=darker(arm), zorder=3)


def _draw_gaps(ax: Axes, trained: pd.DataFrame, theorem: pd.DataFrame) -> None:
    """A gap looks like its lower arm, whose gain it is."""
    for arms in GAPS:
        values, closed = (gap(table, arms, "noise_var") for table in (trained, theorem))
        ax.plot(values.index, values, "-", **marked(arms[1]))
        ax.plot(closed.index, closed, "--", color=darker(arms[1]), zorder=3)


def _legend(bayes: bool) -> list[Line2D]:
    handles = [Line2D([], [], label=ARM_STYLE[arm][2], **marked(arm)) for arm in THEOREMS]
    handles.append(Line2D([], [], color="0.2", ls="-", label="solid: attention, trained"))
    handles.append(Line2D([], [], color="0.2", ls="--", label="dashed: theorem"))
    if bayes:
        handles.append(Line2D([], [], **BAYES_STYLE))
    return handles
