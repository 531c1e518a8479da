"""Real data: the prompts' gain, measured and as theory predicts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.gate import out_of_gate
from . import Tables, style
from .real import OfTables, gate_text, small_print

if TYPE_CHECKING:
    from .hints import Axes, Line2D, MplFigure, pd

SIZE = 2.5  # inches, of a panel
SIDES = ({"xytext": (4, -6)}, {"xytext": (-3, 2), "ha": "right"})  # of n, in turn by setting
MARKERS = "os^DvPX"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")
PREDICTED = {"theorem": "Gaussian $x$", "measured": "measured $x$"}
PANELS = (  # which model's gain, against which prediction
    ("theory_model", "theorem"),
    ("theory_model", "measured"),
    ("model", "measured"),
)


class RealGain(OfTables):
    """Gain of joint over plain, measured against predicted: for the model that the theorems
    describe, by both predictions, and for attention."""

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        settings, real = plot_spec["settings"], tables["real"]
        shown = [p for p in PANELS if p[0] == "model" or _differ(settings)]
        found = [[gains(real, s, s[model]) for s in settings] for model, _ in shown]
        foot = small_print(note, settings)
        width = SIZE * max(len(shown), 2)
        figure, body = style.framed(width, SIZE + 0.3, _legend(settings, found[0]), foot, lines=3)
        axes = body.subplots(1, len(shown), squeeze=False)[0]
        for i, (ax, (model, column), points) in enumerate(zip(axes, shown, found, strict=True)):
            for place, own in enumerate(points):
                _draw_points(ax, own, column, place)
            names = " or ".join(sorted({s[model] for s in settings}))
            ax.set_title(f"({'abc'[i]}) {names}; theorems, {PREDICTED[column]}")
            ax.set_xlabel("predicted gain")
            _finish(ax, points, column)
        axes[0].set_ylabel("measured gain of joint prompts\n" + r"over plain / $\mathrm{E}[y^2]$")
        style.despine(axes)
        return figure


KIND = RealGain


def _differ(settings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the theorems' own model was trained besides the one that is drawn."""
    return any(setting["theory_model"] != setting["model"] for setting in settings)


def gains(real: pd.DataFrame, setting: Mapping[str, Any], model: str) -> pd.DataFrame:
    """By n: the measured gain of joint over plain, the predicted ones, and the standard errors of
    the differences."""
    rows = real[(real.setting == setting["name"]) & (real.model == model)]
    joint = rows[rows.arm == "joint"].set_index("n").sort_index()
    found = joint[["gain", "gate", "gate_se"]].copy()
    for column in PREDICTED:
        found[column], found[f"{column}_se"] = joint[f"{column}_gain"], joint[f"{column}_gain_se"]
    return found


def _draw_points(ax: Axes, points: pd.DataFrame, column: str, place: int) -> None:
    error = 2 * points[f"{column}_se"]
    ax.errorbar(
        points[column], points.gain, error, ls="none", elinewidth=0.7, **_look(points, place)
    )
    for n, row in points.iterrows():
        look = {"textcoords": "offset points", "fontsize": 5, "color": "0.4"} | SIDES[place % 2]
        ax.annotate(str(n), (row[column], row.gain), **look)


def _look(points: pd.DataFrame, place: int) -> dict[str, Any]:
    """A setting's colour and marker, hollow if its gate fails."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    inside = "white" if out_of_gate(points) else colour
    return {"color": colour, "marker": marker, "mec": colour, "mfc": inside, "ms": 4}


def _finish(ax: Axes, found: Sequence[pd.DataFrame], column: str) -> None:
    """Make the panel a square with its diagonal, on which theory is right."""
    from matplotlib.ticker import MultipleLocator

    errors = [2 * p[f"{column}_se"] for p in found]
    ends = [(p.gain + e).max() for p, e in zip(found, errors, strict=True)]
    ends += [p[column].max() for p in found]
    low = min(0.0, *((p.gain - e).min() for p, e in zip(found, errors, strict=True)))
    limits = 1.05 * low, 1.07 * max(ends)
    ax.plot(limits, limits, color="0.75", lw=0.8, zorder=0)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MultipleLocator(0.1 if limits[1] > 0.2 else 0.05))


def _legend(settings: Sequence[Mapping[str, Any]], found: Sequence[pd.DataFrame]) -> list[Line2D]:
    handles = []
    for place, (setting, points) in enumerate(zip(settings, found, strict=True)):
        warning = f": gate fails ({gate_text(points)})" if out_of_gate(points) else ""
        label = f"{setting['name']}{warning}"
        handles.append(style.key(label, ls="none", **_look(points, place)))
    return [*handles, style.key("number: context length $n$", ls="none")]
