"""Real data: what prompts gain, as theory predicts it and as it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..draw import style
from . import Tables
from .real import GATE, OfTables, small_print

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

SIZE = (3.3, 3.1)  # inches, of a panel
MARKERS = "os^DvPX"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
PANELS = {"theorem": "theorems, Gaussian $x$", "measured": "theorems, measured moments of $x$"}


class RealGain(OfTables):
    """Gain of joint over plain, measured against predicted; a panel for each prediction."""

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        style.use_style()
        settings = drawing["settings"]
        found = {s["name"]: gains(tables.more["real"], s) for s in settings}
        handles = _legend(found)
        width = 2 * SIZE[0]
        figure, body = style.framed(width, SIZE[1], handles, small_print(note, settings))
        axes = body.subplots(1, 2, squeeze=False, sharex=True, sharey=True)[0]
        for i, (ax, (column, label)) in enumerate(zip(axes, PANELS.items(), strict=True)):
            for place, points in enumerate(found.values()):
                _draw_points(ax, points, column, place)
            ax.set_title(f"({'ab'[i]}) {label}")
            ax.set_xlabel("predicted gain of joint prompts over plain")
        axes[0].set_ylabel(r"measured gain, held out / $\mathrm{E}[y^2]$")
        _finish(axes, found)
        return figure


KIND = RealGain


def gains(real: pd.DataFrame, setting: Mapping[str, Any]) -> pd.DataFrame:
    """By n: the measured gain of joint over plain, its standard error, and what is predicted."""
    rows = real[(real.setting == setting["name"]) & (real.model == setting["model"])]
    plain, joint = (rows[rows.arm == arm].set_index("n").sort_index() for arm in ("plain", "joint"))
    found = joint[["gain", "gain_se", "gate"]].copy()
    for column in PANELS:
        found[column] = plain[column] - joint[column]
    return found


def _draw_points(ax: Axes, points: pd.DataFrame, column: str, place: int) -> None:
    sound = abs(points.gate.iloc[0] - 1) <= GATE
    colour = COLOURS[place % len(COLOURS)]
    ax.errorbar(
        points[column], points.gain, 2 * points.gain_se, ls="none", elinewidth=0.8, color=colour,
        marker=MARKERS[place % len(MARKERS)], mfc=colour if sound else "white", mec=colour,
    )  # fmt: skip
    for n, row in points.iterrows():
        ax.annotate(
            str(n), (row[column], row.gain), (4, -6), textcoords="offset points", fontsize=6,
            color="0.35",
        )  # fmt: skip


def _finish(axes: list[Axes], found: Mapping[str, pd.DataFrame]) -> None:
    top = 1.08 * max((p.gain + 2 * p.gain_se).max() for p in found.values())
    top = max(top, 1.08 * max(p[list(PANELS)].max().max() for p in found.values()))
    low = min(0.0, 1.08 * min((p.gain - 2 * p.gain_se).min() for p in found.values()))
    for ax in axes:
        ax.plot([low, top], [low, top], color="0.7", lw=0.8, zorder=0)
        ax.set(xlim=(low, top), ylim=(low, top), aspect="equal")
    style.despine(axes)


def _legend(found: Mapping[str, pd.DataFrame]) -> list[Line2D]:
    handles = []
    for place, (name, points) in enumerate(found.items()):
        gate = points.gate.iloc[0]
        sound = abs(gate - 1) <= GATE
        colour = COLOURS[place % len(COLOURS)]
        label = f"{name}" if sound else f"{name}: gate fails ({gate:.2f})"
        marker = MARKERS[place % len(MARKERS)]
        handles.append(
            style.key(label, marker=marker, ls="none", mec=colour, mfc=colour if sound else "white")
        )
    return [*handles, style.key("beside a point: $n$", ls="none")]
