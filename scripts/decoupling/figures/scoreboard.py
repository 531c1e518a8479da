"""The scoreboard as a heat map: panels by arms, coloured by the worst deviation from theory."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..analysis.scoreboard import DIVERGED, TOLERANCE
from ..analysis.scoretext import percent
from ..models.arms import ARMS
from . import Figure, Tables
from .style import framed, use_style

if TYPE_CHECKING:
    from matplotlib.colors import SymLogNorm

    from .hints import Axes, Config, Curve, MplFigure, pd

TICKS = (-1, -0.1, -TOLERANCE, 0, TOLERANCE, 0.1, 1)
CELL = (0.95, 0.3)  # inches
LEAST_ROWS = 5  # high enough for the colour bar's labels
MARGIN = (2.0, 0.9)


class Scoreboard(Figure):
    """Curves of all figures that have a theorem. Every config has this figure."""

    properties: ClassVar = {}
    setting_names = ()
    label = "Heat map of one-layer curves"

    def needs(self, config: Config) -> dict[str, list[str]]:
        return {"scoreboard": ["scoreboard"]}

    def curves(self, config: Config) -> list[Curve]:
        scored = [c for figure in config.figures.values() for c in figure.scored(config)]
        return [curve for curve in scored if curve.model_class.references]

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        from matplotlib import colormaps
        from matplotlib.colors import SymLogNorm

        use_style()
        table = tables["scoreboard"]
        shown = table[table.has_theorem.astype(bool)]
        rows = list(dict.fromkeys(_row_name(row) for row in shown.itertuples()))
        arms = [arm for arm in ARMS if arm in set(shown.arm)]
        width, height = max(1, len(arms)) * CELL[0], max(LEAST_ROWS, len(rows)) * CELL[1]
        figure, body = framed(width + MARGIN[0], height + MARGIN[1], [], note)
        ax = body.subplots()
        if shown.empty:
            ax.axis("off")
            ax.text(0.5, 0.5, "no curve has a theorem", ha="center", va="center")
            return figure
        values, texts = _cells(shown, rows, arms)
        colours = colormaps["RdBu_r"].with_extremes(bad="0.93")  # red: above the theorem
        scale = SymLogNorm(TOLERANCE, vmin=-1, vmax=1)  # pale within the tolerance, then decades
        image = ax.imshow(np.ma.masked_invalid(values), colours, scale, aspect="auto")
        _annotate(ax, values, texts, scale)
        _label(ax, rows, arms)
        bar = body.colorbar(image, ax=ax, ticks=TICKS, extend="both", pad=0.02)
        bar.ax.set_yticklabels(
            [f"{tick:+.0%}".replace("+0%", "0").replace("-", "−") for tick in TICKS]
        )
        return figure


KIND = Scoreboard


def _row_name(row: tuple) -> str:
    return row.panel if row.model == "attention" else f"{row.panel}, {row.model}"


def _cells(
    shown: pd.DataFrame, rows: list[str], arms: list[str]
) -> tuple[np.ndarray, dict[tuple[int, int], str]]:
    values = np.full((len(rows), len(arms)), np.nan)
    texts = {}
    for row in shown.itertuples():
        place = rows.index(_row_name(row)), arms.index(row.arm)
        values[place] = row.theorem_worst
        words = [percent(row.theorem_worst).replace("-", "−")]
        words += [DIVERGED] if row.verdict == DIVERGED else []
        texts[place] = "\n".join(word for word in words if word)
    return values, texts


def _annotate(
    ax: Axes, values: np.ndarray, texts: dict[tuple[int, int], str], scale: SymLogNorm
) -> None:
    for (i, j), text in texts.items():
        dark = np.isfinite(values[i, j]) and abs(scale(values[i, j]) - 0.5) > 0.3
        colour = "white" if dark else "black"
        ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour, linespacing=0.9)


def _label(ax: Axes, rows: list[str], arms: list[str]) -> None:
    names = [textwrap.fill(ARMS[arm].label, 18) for arm in arms]
    ax.set_xticks(range(len(arms)), names)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(1, len(arms)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
    ax.grid(which="minor", color="white", lw=1.5)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    ax.set_title("Worst deviation of the trained risk from the theorem")
    ax.set_xlabel(
        "grey: not on that panel; deeper models and softmax have no theorem",
        fontsize=6,
        color="0.35",
    )
