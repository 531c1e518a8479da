"""The cost of Assumption 1: theorems against the numerical optimum of one-layer attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import LENGTHS, Columns, Problem, Tables, names, style
from .describe import describe
from .smooth import filled

if TYPE_CHECKING:
    from .hints import Axes, Config, Line2D, MplFigure, TaskMixture, pd

ARMS = ("plain", "finetune", "joint")  # Theorems 1–3; Theorem 4 does not need the assumption
PARTS = {  # of the cost for joint training: upper and lower reference, grey level
    "label energy": ("centred", "energy", 0.45),
    "common mean": ("theorem", "centred", 0.75),
}
ROW_HEIGHT = 2.0  # inches


class Assumption1(Columns):
    """A column per setting: risks; excess of the theorem over the optimum; and its split between
    the parts of the assumption."""

    table = "theory"
    properties: ClassVar = {
        "settings": names("The settings whose numerical optimum is compared with Theorems 1–3"),
        "n": LENGTHS,
    }

    def problems(self, config: Config) -> Iterator[Problem]:
        if len(self.block["n"]) < 2:
            yield "n", "a line needs two lengths; add one"

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        columns = plot_spec["columns"]
        figure, body = style.framed(
            len(columns) * style.panel_width(len(columns)), 3 * ROW_HEIGHT, _legend(), note
        )
        axes = body.subplots(3, len(columns), squeeze=False, sharex=True)
        for i, ((base, name), pair) in enumerate(zip(columns, axes.T, strict=True)):
            theory = tables["theory"][tables["theory"].setting == name]
            _draw_risks(*pair[:2], theory, tables["specs"][name])
            _draw_parts(pair[2], theory)
            pair[0].set_title(f"({chr(ord('a') + i)}) {base}\n{describe(tables['specs'][name])}")
        axes[0, 0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
        axes[1, 0].set_ylabel("theorem above optimum, %")
        axes[2, 0].set_ylabel("cost to joint prompts, %")
        style.despine(axes.flat)
        return figure


KIND = Assumption1


def _draw_risks(upper: Axes, lower: Axes, theory: pd.DataFrame, mix: TaskMixture) -> None:
    for arm in ARMS:
        theorem, optimum = (_risks(theory, arm, name) for name in ("theorem", "optimum"))
        upper.semilogx(optimum.index, optimum, ls="none", zorder=3, **style.marked(arm))
        rows = theory[(theory.arm == arm) & (theory.curve == "theorem")]
        curve = filled(rows, mix)
        upper.semilogx(curve.n, curve.normalized, "--", color=style.darker(arm), zorder=2.5)
        cost = 100 * (theorem / optimum - 1)
        lower.semilogx(cost.index, cost, "-", **style.marked(arm))
    style.from_zero(upper)
    lower.axhline(0, color="0.6", lw=0.8, zorder=0)
    lower.minorticks_off()


def _draw_parts(ax: Axes, theory: pd.DataFrame) -> None:
    """Stacked parts; the rest at the bottom is the excess of the best closed form."""
    optimum = _risks(theory, "joint", "optimum")

    def above(reference: str) -> pd.Series:
        return 100 * (_risks(theory, "joint", reference) / optimum - 1)

    for upper, lower, level in PARTS.values():
        ax.fill_between(optimum.index, above(lower), above(upper), color=str(level), lw=0)
    ax.semilogx(optimum.index, above("theorem"), "-", **style.marked("joint"))
    ax.set_ylim(bottom=0)
    ax.minorticks_off()
    ax.set_xlabel("context length $n$")


def _risks(theory: pd.DataFrame, arm: str, reference: str) -> pd.Series:
    rows = theory[(theory.arm == arm) & (theory.curve == reference)]
    return rows.set_index("n").normalized


def _legend() -> list[Line2D]:
    handles = [style.arm_key(arm) for arm in ARMS]
    handles.append(style.key("markers: numerical optimum", color="0.2", marker="o", ls="none"))
    handles.append(style.line_key("--", "dashed: Theorems 1–3"))
    return handles + [
        style.key(f"shaded: {part}'s part", color=str(level), marker="s", ls="none", ms=6)
        for part, (_, _, level) in PARTS.items()
    ]
