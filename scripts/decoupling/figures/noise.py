"""Noise: risks and gaps of the four arms against σ², trained and by theorem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..models.arms import ARMS
from ..theory.gaps import GAPS, gap
from ..theory.theorems import THEOREMS
from . import BAYES, LENGTHS, Figure, Tables, several, style, text
from .describe import describe

if TYPE_CHECKING:
    from .hints import Axes, Config, Curve, Line2D, MplFigure, Setting, TaskMixture, pd

POINTS = 60  # of a theorem's line
CELL = (2 * style.PANEL_SIZE[0] / 3, 2.1)  # inches


class Noise(Figure):
    """A column per n: risks above, gaps below."""

    properties: ClassVar = {
        "setting": text("The setting whose label noise is varied"),
        "noise_var": several("Variances of the label noise", "number", minimum=0),
        "n": LENGTHS,
        "bayes": BAYES,
    }
    required = ("setting", "noise_var", "n")

    @property
    def variants(self) -> dict[str, float]:
        """Name and σ² of the derived settings."""
        return {f"{self.name}.{noise}": noise for noise in sorted(self.block["noise_var"])}

    def derived(self, settings: Mapping[str, Setting]) -> list[Setting]:
        base = settings[self.block["setting"]]
        return [
            base.derive(name, self.block["n"], noise_var=noise)
            for name, noise in self.variants.items()
        ]

    def needs(self, config: Config) -> dict[str, list[str]]:
        names = list(self.variants)
        bayes = names if self.block.get("bayes") else []
        return {"specs": names, "risks": names, "theory": names, "bayes": bayes}

    def curves(self, config: Config) -> list[Curve]:
        return [curve for name in self.variants for curve in config.settings[name].curves]

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        style.use_style()
        noise = {name: mix.noise_var for name, mix in tables["specs"].items()}
        theorems = tables["theory"][tables["theory"].curve == "theorem"]
        derived = [
            table.assign(noise_var=table.setting.map(noise)).sort_values("noise_var")
            for table in (tables["risks"], tables["bayes"])
        ]
        lengths = sorted(set(theorems.n))
        size = max(len(lengths) * CELL[0], style.PANEL_SIZE[0]), 2 * CELL[1]
        curves = _between(theorems, tables["specs"])
        figure, body = style.framed(*size, _legend(not tables["bayes"].empty), note)
        axes = body.subplots(2, len(lengths), squeeze=False, sharex=True, sharey="row")
        for n, (upper, lower) in zip(lengths, axes.T, strict=True):
            risks, bayes = (table[table.n == n] for table in derived)
            _draw_column(upper, lower, risks, curves[curves.n == n], bayes)
            upper.set_title(f"$n={n}$")
        axes[0, 0].set_ylabel(r"risk / $\mathrm{E}[y^2]$")
        style.from_zero(axes[0, 0])
        axes[1, 0].set(ylabel="gap to the curve above\n" + r"/ $\mathrm{E}[y^2]$")
        if min(ax.dataLim.ymin for ax in axes[1]) >= 0:
            axes[1, 0].set_ylim(bottom=0)  # also where a trained arm is above the one before it
        style.despine(axes.flat)
        mix = next(iter(tables["specs"].values()))
        body.suptitle(describe(mix, noise=False).replace("\n", " "), fontsize=8)
        return figure


KIND = Noise


def _between(theorems: pd.DataFrame, specs: Mapping[str, TaskMixture]) -> pd.DataFrame:
    """The closed forms of data/theory, with more σ² between theirs for smooth lines."""
    import pandas as pd

    noise = {name: mix.noise_var for name, mix in specs.items()}
    known = theorems.assign(noise_var=theorems.setting.map(noise))
    base = next(iter(specs.values()))
    mixtures = [
        replace(base, noise_var=float(value))
        for value in np.linspace(min(noise.values()), max(noise.values()), POINTS)
        if value not in noise.values()
    ]
    found = [
        {
            "n": n,
            "arm": arm,
            "noise_var": mix.noise_var,
            "normalized": form(mix, n).risk / mix.label_power,
        }
        for mix in mixtures
        for n in sorted(set(theorems.n))
        for arm, form in THEOREMS.items()
    ]
    return pd.concat([known, pd.DataFrame(found)] if found else [known]).sort_values("noise_var")


def _draw_column(
    upper: Axes, lower: Axes, trained: pd.DataFrame, theorem: pd.DataFrame, bayes: pd.DataFrame
) -> None:
    _draw_risks(upper, trained, theorem)
    if not bayes.empty:
        style.plot_bayes(upper, bayes, "noise_var")
    style.note_diverged(upper, trained, "noise_var", "$\\sigma^2$", "attention")
    _draw_gaps(lower, trained, theorem)
    lower.set_xlabel(r"label noise $\sigma^2$")


def _draw_risks(ax: Axes, trained: pd.DataFrame, theorem: pd.DataFrame) -> None:
    for arm in THEOREMS:
        rows, closed = trained[trained.arm == arm], theorem[theorem.arm == arm]
        ax.plot(closed.noise_var, closed.normalized, "--", color=ARMS[arm].colour)
        ax.plot(rows.noise_var, rows.normalized, ls="none", **style.marked(arm))


def _draw_gaps(ax: Axes, trained: pd.DataFrame, theorem: pd.DataFrame) -> None:
    """Gaps, in the look of their lower arm."""
    for arms in GAPS:
        values, closed = (gap(table, arms, "noise_var") for table in (trained, theorem))
        ax.plot(closed.index, closed, "--", color=ARMS[arms[1]].colour)
        ax.plot(values.index, values, ls="none", **style.marked(arms[1]))


def _legend(bayes: bool) -> list[Line2D]:
    handles = [style.arm_key(arm, "none") for arm in THEOREMS]
    trained = "markers: attention, trained"
    handles.append(style.key(trained, color="0.2", marker="o", ls="none"))
    handles.append(style.line_key("--", "dashed: theorem"))
    return [*handles, style.key(**style.BAYES_STYLE)] if bayes else handles
