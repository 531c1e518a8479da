"""The look of every figure: arms, fonts, the frame, the files.

Matplotlib and seaborn are imported inside functions: the workflow reads all kinds of figures when
it starts.
"""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import atomic_path
from ..models.arms import ARMS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

BAYES_STYLE = {"color": "0.2", "ls": ":", "label": "dotted: Bayes-optimal"}
NOTE_LETTERS = 21  # of the small print per inch
PANEL_SIZE = (3.4, 2.9)  # inches; 3.4 is a column's width
MOST_COLUMNS = 3  # of panels across a page

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


def use_style() -> None:
    import seaborn

    seaborn.set_theme(context="paper", style="ticks", rc=RC)


def panel_width(columns: int) -> float:
    """A panel's width in inches: a column's; more than two side by side share a page's width."""
    return 2 * PANEL_SIZE[0] / min(max(columns, 2), MOST_COLUMNS)


def despine(axes: Iterable[Axes]) -> None:
    """Remove the upper and the right line of every frame."""
    import seaborn

    for ax in axes:
        seaborn.despine(ax=ax)


def is_mathtext(text: str) -> bool:
    """Whether Matplotlib can draw the formulas between dollar signs."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return False
    return True


def key(label: str, **style: Any) -> Line2D:
    """An entry of the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **style)


def arm_key(arm: str, line: str = "-") -> Line2D:
    return key(ARMS[arm].label, ls=line, **marked(arm))


def line_key(style: str, label: str) -> Line2D:
    return key(label, color="0.2", ls=style)


def marked(arm: str) -> dict[str, object]:
    """Keywords for an arm's colour and marker."""
    return {"color": ARMS[arm].colour, "marker": ARMS[arm].marker, "mec": "white", "mew": 0.4}


def darker(arm: str) -> tuple[float, ...]:
    """An arm's colour for its theorem, drawn on top of the trained curve."""
    colour = ARMS[arm].colour.lstrip("#")
    return tuple(0.6 * int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))


def whole_ticks(ax: Axes, values: Iterable[float]) -> None:
    """Ticks at whole numbers of the x axis, or at the only value."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    found = set(values)
    one = FixedLocator(sorted(found)) if len(found) == 1 else None
    ax.xaxis.set_major_locator(one or MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def from_zero(ax: Axes) -> None:
    """Begin the y axis at 0; a little below if a curve lies on 0, which the axis would hide."""
    top = ax.get_ylim()[1]
    lowest = min((y for line in ax.lines for y in line.get_ydata()), default=top)
    ax.set_ylim(bottom=-0.03 * top if lowest < 0.02 * top else 0)


def plot_bayes(ax: Axes, curve: pd.DataFrame, x: str) -> None:
    """The Bayes-optimal predictor, with a band of two standard errors."""
    ax.plot(curve[x], curve.normalized, **BAYES_STYLE)
    low = curve.normalized - 2 * curve.normalized_se
    high = curve.normalized + 2 * curve.normalized_se
    ax.fill_between(curve[x], low, high, color=BAYES_STYLE["color"], alpha=0.2, lw=0)


def note_diverged(ax: Axes, trained: pd.DataFrame, x: str, symbol: str, model: str) -> None:
    """Note the points whose seeds have all diverged, with the name of their model if it is not
    `model`."""
    gone = trained[trained.seeds_ok == 0]
    lines = [
        f"{ARMS[arm].label}{'' if other == model else f' ({other})'},"
        f" {symbol} = {', '.join(f'{value:g}' for value in rows[x])}"
        for (other, arm), rows in gone.groupby(["model", "arm"], sort=False)
    ]
    if lines:
        text = "\n".join(["all seeds diverged:", *lines])
        ax.text(0.5, 0.97, text, transform=ax.transAxes, ha="center", va="top", fontsize=6)


def framed(
    width: float, height: float, handles: Sequence[Line2D], note: str, lines: int = 1
) -> tuple[Figure, SubFigure]:
    """A figure with a body of this size in inches, above its legend and small print of `lines`."""
    from matplotlib.figure import Figure

    columns = max(2, round(width / 2.3))
    wrapped = "\n".join(balanced(line, round(width * NOTE_LETTERS)) for line in note.splitlines())
    lines = max(lines, wrapped.count("\n") + 1)
    foot_height = 0.15 + 0.1 * lines + 0.16 * -(-len(handles) // columns)
    figure = Figure(figsize=(width, height + foot_height), layout="constrained")
    body, foot = figure.subfigures(2, 1, height_ratios=[height, foot_height])
    if handles:
        foot.legend(handles=handles, loc="upper center", ncols=columns, frameon=False)
    foot.text(0.5, 0.02, wrapped, fontsize=6, color="0.35", ha="center", va="bottom")
    return figure, body


def balanced(text: str, most: int) -> str:
    """Text in as few lines as it needs, of about equal length."""
    lines = len(textwrap.wrap(text, most))
    shortest = next(w for w in range(1, most + 1) if len(textwrap.wrap(text, w)) <= lines)
    return textwrap.fill(text, shortest)


def save(figure: Figure, pdf: Path, png: Path, code: str = "") -> None:
    """Write both formats, with the digest of the code that drew them and without a date, so that
    the same data and code give the same bytes."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on the fonts' own dates
    keywords = {"Keywords": f"code {code}"} if code else {}
    undated = {"CreationDate": None, "Producer": None}
    for path, metadata in ((pdf, {**keywords, **undated}), (png, keywords)):
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
    for words in cut_off(figure):
        logging.warning("%s: %r does not fit; make it shorter", pdf, words)


def cut_off(figure: Figure) -> list[str]:
    """Titles, legends and small print that are partly outside the figure."""
    figure.draw_without_rendering()  # gives texts their sizes at the file's resolution
    edge = figure.bbox.padded(1)  # pixels
    found = []
    for part in (figure, *figure.subfigs):
        titles = [ax.title for ax in part.axes]
        for artist in (*part.texts, *titles, *part.legends):
            box = artist.get_window_extent()
            if not (edge.contains(*box.min) and edge.contains(*box.max)):
                texts = artist.get_texts() if artist in part.legends else [artist]
                found.append(max((text.get_text() for text in texts), key=len))
    return found
