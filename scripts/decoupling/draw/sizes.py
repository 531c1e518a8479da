"""Risk against the size of a model, a panel for each context length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import style
from .describe import describe
from .panels import computed, trained

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

    from ..figures import Tables

HEIGHT = 2.6  # inches of a panel


def draw_sizes(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
    """`drawing` has the setting whose theorems are drawn, `model`, `arms`, `n`, (size, setting,
    layers) of all `points`, and what the sizes are: `axis`, `symbol`, `logarithmic`."""
    style.use_style()
    lengths = drawing["n"]
    width = len(lengths) * style.PANEL_SIZE[0]
    figure, body = style.framed(width, HEIGHT, _legend(drawing["arms"]), note)
    axes = body.subplots(1, len(lengths), squeeze=False)[0]
    for n, ax in zip(lengths, axes, strict=True):
        _draw_panel(ax, drawing, tables, n)
        ax.set_title(f"$n={n}$")
    axes[0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
    style.despine(axes)
    mix = tables.specs[drawing["setting"]]
    body.suptitle(describe(mix).replace("\n", " "), fontsize=8)
    return figure


def _draw_panel(ax: Axes, drawing: Mapping[str, Any], tables: Tables, n: int) -> None:
    import pandas as pd

    base, model, points = drawing["setting"], drawing["model"], drawing["points"]
    sizes = sorted({size for size, _, _ in points})
    shown = []
    for arm in drawing["arms"]:
        parts = [
            trained(tables, setting, model, layers, arm).assign(size=size)
            for size, setting, layers in points
        ]
        curve = pd.concat(parts).query("n == @n").sort_values("size")
        shown.append(curve)
        error = 2 * curve.normalized_se
        ax.errorbar(curve["size"], curve.normalized, error, ls="-", lw=1.2, **style.marked(arm))
        theorem = computed(tables, base, arm, "theorem").query("n == @n")
        for value in theorem.normalized:
            ax.axhline(value, ls="--", lw=1, color=style.darker(arm), zorder=1)
    bayes = tables.bayes[(tables.bayes.setting == base) & (tables.bayes.n == n)]
    for value in bayes.normalized:
        ax.axhline(value, color=style.BAYES_STYLE["color"], ls=style.BAYES_STYLE["ls"])
    style.note_diverged(ax, pd.concat(shown), "size", drawing["symbol"], model)
    if drawing["logarithmic"]:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set(xlabel=drawing["axis"], ylim=(0, None))


def _legend(arms: Sequence[str]) -> list[Line2D]:
    handles = [style.arm_key(arm) for arm in style.ARM_STYLE if arm in arms]
    dashed = "dashed: linear, theorem"
    return [*handles, style.line_key("--", dashed), style.key(**style.BAYES_STYLE)]
