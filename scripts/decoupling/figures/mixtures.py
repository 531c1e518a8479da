"""Random mixtures: how far closed forms lie above the numerical optimum of attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..models.arms import ARMS
from ..theory.excess import SHOWN, excess, several_tasks
from . import Figure, Tables, style

if TYPE_CHECKING:
    from .hints import Axes, Config, MplFigure, pd

BLOCK = 20  # mixtures per job
SIZE = (4.8, 3.4)  # inches
LINES = {  # line and label of each reference
    "theorem": ("-", "solid: Theorems 1–4"),
    "centred": ("--", "dashed: Theorem 3, centred"),
    "energy": (":", "dotted: the same with label energy"),
}
LINEAR = 0.01  # percent: a logarithmic scale beyond it


class Mixtures(Figure):
    """Distribution over mixtures of the excess of closed forms over the optimum."""

    properties: ClassVar = {
        "count": {"description": "How many", "type": "integer", "minimum": 1, "maximum": 100000},
        "seed": {"description": "Which ones: any, from 0 on", "type": "integer", "minimum": 0},
    }
    required = ("count", "seed")
    setting_names = ()

    def needs(self, config: Config) -> dict[str, list[str]]:
        """Blocks of mixtures instead of settings."""
        count = self.block["count"]
        firsts = range(0, count, BLOCK)
        return {"sampled": [f"{self.name}/{i}-{min(i + BLOCK, count) - 1}" for i in firsts]}

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        handles = [
            style.key(ARMS[arm].label, color=ARMS[arm].colour)
            for reference, arm in SHOWN
            if reference == "theorem"
        ]
        handles += [style.line_key(*line) for line in LINES.values()]
        figure, body = style.framed(*SIZE, handles, note)
        ax = body.subplots()
        sampled = several_tasks(tables["sampled"])
        for reference, arm in SHOWN:
            _draw_distribution(ax, excess(sampled, reference, arm), reference, arm)
        _finish(ax, sampled.mixture.nunique())
        return figure


KIND = Mixtures


def _draw_distribution(ax: Axes, values: pd.Series, reference: str, arm: str) -> None:
    colour = ARMS[arm].colour if reference == "theorem" else style.darker(arm)
    ax.ecdf(values, color=colour, ls=LINES[reference][0])


def _finish(ax: Axes, count: int) -> None:
    ax.set_xscale("symlog", linthresh=LINEAR)
    ax.axvline(0, color="0.8", lw=0.8, zorder=0)
    ticks = [-10, -1, -0.1, -LINEAR, 0, LINEAR, 0.1, 1, 10, 100]
    low, high = ax.get_xlim()
    shown = [tick for tick in ticks if low <= tick <= high]
    ax.set_xticks(shown, [f"{tick:g}".replace("-", "−") for tick in shown])
    ax.minorticks_off()
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(f"closed form above the numerical optimum, % (linear within ±{LINEAR})")
    ax.set_ylabel("share of mixtures")
    ax.set_title(
        f"{count} random mixtures: $K=2,\\ldots,4$, $d \\leq 8$, $\\mu_k \\sim N(0, I)$,\n"
        "random $\\Sigma_k$, $\\Sigma_x$, $\\sigma^2$ and $n$"
    )
    style.despine([ax])
