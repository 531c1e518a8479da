"""The value of knowing the task, and how often the context identifies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import LENGTHS, Columns, Tables, names, style
from .describe import describe

if TYPE_CHECKING:
    from .hints import Axes, Line2D, MplFigure, pd


ROW_HEIGHTS = (2.9, 1.3)  # inches
TOLD = {  # line style, label
    "right": ("-", "solid: told the task"),
    "soft": ("--", "dashed: inferred, weighed"),
    "map": (":", "dotted: inferred, likeliest"),
    "wrong": ("-.", "dash-dotted: told another"),
}
ARMS = ("joint", "joint_heads")
CONTROLS = ("plain", "shared")  # which do not use the task
BAYES = "0.2"  # its colour
LEAST = 1e-5  # smallest P(wrong) that is drawn


class Identity(Columns):
    """A column per setting: risks above, P(the likeliest task is the wrong one) below."""

    table = "identity"
    properties: ClassVar = {
        "settings": names("The settings whose task is told, inferred or told wrong"),
        "n": LENGTHS,
    }
    computed = (
        "Closed forms, inferred on 20,000 simulated contexts"
        " (not drawn: risks above 1.05, P(wrong) below 0.00001)"
    )

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        columns = plot_spec["columns"]
        size = len(columns) * style.panel_width(len(columns)), sum(ROW_HEIGHTS)
        figure, body = style.framed(*size, _legend(), note)
        shape = {"squeeze": False, "sharex": True, "height_ratios": ROW_HEIGHTS}
        axes = body.subplots(2, len(columns), **shape)
        for i, ((base, name), (upper, lower)) in enumerate(zip(columns, axes.T, strict=True)):
            rows = tables["identity"]
            _draw_column(upper, lower, rows[rows.setting == name].sort_values("n"))
            upper.set_title(f"({chr(ord('a') + i)}) {base}\n{describe(tables['specs'][name])}")
        axes[0, 0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
        axes[1, 0].set_ylabel("P(wrong task)")
        style.despine(axes.flat)
        return figure


KIND = Identity


def _draw_column(upper: Axes, lower: Axes, rows: pd.DataFrame) -> None:
    for (arm, told), curve in rows.groupby(["arm", "told"]):
        if arm == "bayes":
            if told in ("right", "soft"):
                upper.plot(curve.n, curve.normalized, TOLD[told][0], color=BAYES, lw=0.8)
        elif arm in CONTROLS:
            order = {"zorder": 3, "lw": 0.8} if arm == "plain" else {"lw": 2.5}  # may coincide
            upper.plot(curve.n, curve.normalized, "-", ms=3, **style.marked(arm), **order)
        else:
            line, _ = TOLD[told]
            other = {"color": style.darker(arm), "marker": "."}
            look = style.marked(arm) if told == "right" else other
            upper.plot(curve.n, curve.normalized, line, ms=3, **look)
    wrong = rows.drop_duplicates("n")
    wrong = wrong[wrong.wrong > LEAST]
    lower.errorbar(wrong.n, wrong.wrong, 2 * wrong.wrong_se, color=BAYES, marker=".", lw=0.8)
    upper.set_xscale("log")
    upper.set_ylim(0, 1.05)  # for the wrong task, risks are far larger
    lower.set(yscale="log", ylim=(LEAST, 1), xlabel="context length $n$")
    if rows.n.max() <= 100:
        ticks = [n for n in (1, 2, 5, 10, 20, 50, 100) if rows.n.min() <= n <= rows.n.max()]
        lower.set_xticks(ticks, [str(n) for n in ticks])
    lower.minorticks_off()


def _legend() -> list[Line2D]:
    handles = [style.arm_key(arm) for arm in (*CONTROLS, *ARMS)]
    handles.append(style.key("Bayes-optimal", color=BAYES, lw=0.8))
    return [*handles, *(style.line_key(line, text) for line, text in TOLD.values())]
