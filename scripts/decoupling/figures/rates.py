"""Rates: how fast the gaps between Theorems 1–4 close as n grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..models.arms import ARMS
from ..theory.gaps import COROLLARY_1, GAPS, RESOLUTION, gap, last_decade, slope
from . import LENGTHS, Figure, Problem, Tables, style, text
from .describe import describe
from .smooth import filled

if TYPE_CHECKING:
    from .hints import Axes, Config, Line2D, MplFigure, Setting, pd

SIZE = (4.6, 3.4)  # inches
GUIDE_STYLE = {"color": "0.8", "lw": 3, "zorder": 1, "label": "grey: as Corollary 1 claims"}
THEOREM_NAME = {"plain": "PT", "finetune": "FT", "joint": "JT", "joint_heads": "Theorem 4"}


class Rates(Figure):
    """Gaps of one setting, dashed, with fitted slopes, and the rates that Corollary 1 claims."""

    properties: ClassVar = {
        "setting": text("The setting whose gaps between theorems are drawn against n"),
        "n": LENGTHS,
    }
    required = ("setting", "n")

    @property
    def variant(self) -> str:
        return f"{self.name}.{self.block['setting']}"

    def problems(self, config: Config) -> Iterator[Problem]:
        if len(last_decade(self.block["n"])) < 2:
            yield "n", "slopes are fitted to the last decade; give two lengths in it"

    def derived(self, settings: Mapping[str, Setting]) -> list[Setting]:
        return [settings[self.block["setting"]].derive(self.variant, self.block["n"])]

    def needs(self, config: Config) -> dict[str, list[str]]:
        return {"specs": [self.variant], "theory": [self.variant]}

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        (mix,) = tables["specs"].values()
        theorems = tables["theory"][tables["theory"].curve == "theorem"]
        gaps = {arms: gap(theorems, arms, "n") for arms in GAPS}
        everywhere = filled(theorems, mix)
        claims = any((gaps[arms] > RESOLUTION).any() for arms in COROLLARY_1)
        figure, body = style.framed(*SIZE, _legend(gaps, claims), note)
        ax = body.subplots()
        for arms, values in gaps.items():
            shown = values[values > RESOLUTION]
            curve = gap(everywhere, arms, "n")
            curve = curve[curve > RESOLUTION]
            ax.loglog(curve.index, curve, "--", color=ARMS[arms[1]].colour)
            ax.loglog(shown.index, shown, ls="none", **style.marked(arms[1]))
            if arms in COROLLARY_1 and len(shown):
                _guide(ax, shown, COROLLARY_1[arms])
        _finish(ax, theorems.n)
        ax.set_title(f"Gaps between Theorems 1 (PT), 2 (FT), 3 (JT) and 4\n{describe(mix)}")
        return figure


KIND = Rates


def _guide(ax: Axes, gaps: pd.Series, power: int) -> None:
    """The claimed power of n, from the gap two decades before the end."""
    n = gaps.index[100 * gaps.index >= gaps.index[-1]].to_numpy()
    ax.loglog(n, gaps[n[0]] * (n / n[0]) ** float(power), **GUIDE_STYLE)


def _finish(ax: Axes, context_lengths: pd.Series) -> None:
    fitted = last_decade(set(context_lengths))
    ax.axvspan(fitted[0], fitted[-1], color="0.95", lw=0, zorder=0)
    ax.text(
        np.sqrt(fitted[0] * fitted[-1]),
        0.99,
        "slopes fitted",
        transform=ax.get_xaxis_transform(),
        ha="center",
        va="top",
        fontsize=6,
        color="0.35",
    )
    ax.minorticks_off()
    ax.set_xlabel("context length $n$")
    ax.set_ylabel(r"gap / $\mathrm{E}[y^2]$")
    style.despine([ax])


def _legend(gaps: Mapping[tuple[str, str], pd.Series], claims: bool) -> list[Line2D]:
    handles = [
        style.key(_label(arms, slope(values)), ls="--", **style.marked(arms[1]))
        for arms, values in gaps.items()
    ]
    return [*handles, style.key(**GUIDE_STYLE)] if claims else handles


def _label(arms: tuple[str, str], power: float) -> str:
    name = " − ".join(THEOREM_NAME[arm] for arm in arms)
    if np.isnan(power):
        return f"{name}: too small for a slope"
    claim = f" (claimed {COROLLARY_1[arms]})" if arms in COROLLARY_1 else ""
    return f"{name}: slope {power:.3f}{claim}".replace("-", "−")
