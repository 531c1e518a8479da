"""Assumption 1: what it costs one-layer attention, against its exact optimum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw import style
from ..draw.describe import describe
from . import LENGTHS, Columns, Needs, Problem, Tables, names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

    from ..plan.config import Config

ARMS = ("plain", "finetune", "joint")  # of Theorems 1–3; Theorem 4 does without the assumption
ROW_HEIGHT = 2.2  # inches


class Assumption1(Columns):
    """A column per setting: risks above, below them how far the theorem is above the optimum."""

    properties: ClassVar = {
        "settings": names("The settings whose exact optimum is compared with Theorems 1–3"),
        "n": LENGTHS,
    }

    def problems(self, config: Config) -> Iterator[Problem]:
        if len(self.block["n"]) < 2:
            yield "n", "a line needs two lengths; add one"

    def needs(self, config: Config) -> Needs:
        names = [name for _, name in self.variants]
        return Needs(specs=names, theory=names)

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        style.use_style()
        columns = drawing["columns"]
        figure, body = style.framed(
            len(columns) * style.PANEL_SIZE[0], 2 * ROW_HEIGHT, _legend(), note
        )
        axes = body.subplots(2, len(columns), squeeze=False, sharex=True)
        for i, ((base, name), pair) in enumerate(zip(columns, axes.T, strict=True)):
            _draw_column(*pair, tables.theory[tables.theory.setting == name])
            pair[0].set_title(f"({chr(ord('a') + i)}) {base}\n{describe(tables.specs[name])}")
        axes[0, 0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
        axes[1, 0].set_ylabel("theorem above optimum, %")
        style.despine(axes.flat)
        return figure


KIND = Assumption1


def _draw_column(upper: Axes, lower: Axes, theory: pd.DataFrame) -> None:
    for arm in ARMS:
        theorem, optimum = (
            theory[(theory.arm == arm) & (theory.curve == reference)].set_index("n").normalized
            for reference in ("theorem", "optimum")
        )
        upper.semilogx(optimum.index, optimum, "-", **style.marked(arm))
        upper.semilogx(theorem.index, theorem, "--", color=style.darker(arm), zorder=3)
        cost = 100 * (theorem / optimum - 1)
        lower.semilogx(cost.index, cost, "-", **style.marked(arm))
    upper.set_ylim(bottom=0)
    lower.axhline(0, color="0.6", lw=0.8, zorder=0)
    lower.minorticks_off()
    lower.set_xlabel("context length $n$")


def _legend() -> list[Line2D]:
    handles = [style.arm_key(arm) for arm in ARMS]
    solid, dashed = "solid: exact optimum", "dashed: Theorems 1–3"
    return [*handles, style.line_key("-", solid), style.line_key("--", dashed)]
