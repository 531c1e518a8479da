"""Gaps between the theorems: enough digits at n = 10⁵, and the fitted slopes."""

from __future__ import annotations

import math

import mixtures
import numpy as np
import pandas as pd
import precise
import pytest
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.gaps import GAPS, RESOLUTION, gap, last_decade, slope
from decoupling.theory.theorems import THEOREMS

LENGTHS = [1, 10, 100, 1000, 10_000, 20_000, 50_000, 100_000]


def theorem_table(mix: TaskMixture, lengths: list[int] = LENGTHS) -> pd.DataFrame:
    rows = [
        {"n": n, "arm": arm, "normalized": theorem(mix, n).risk / mix.label_power}
        for n in lengths
        for arm, theorem in THEOREMS.items()
    ]
    return pd.DataFrame(rows)


def precise_gaps(mix: TaskMixture, arms: tuple[str, str], lengths: list[int]) -> pd.Series:
    risks = {n: precise.theorem_risks(mix, n) for n in lengths}
    return pd.Series(
        {n: float(r[arms[0]] - r[arms[1]]) / mix.label_power for n, r in risks.items()}
    )


@pytest.mark.parametrize("name", ["fig2a", "fig2c", "fig2d", "figA1b", "figA1d"])
def test_differences_of_risks_keep_their_digits(name: str):
    """The risks are differences themselves, and their gaps 10⁻⁹ of E[y²]; six digits remain."""
    mix = mixtures.paper(name)
    table = theorem_table(mix)
    for arms in GAPS:
        expected = precise_gaps(mix, arms, [1, 1000, 100_000])
        found = gap(table, arms, "n")[expected.index]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert (np.abs(found - expected) < RESOLUTION / 10).all()


@pytest.mark.parametrize(("arms", "power"), list(zip(GAPS, (-2, -2, -1), strict=True)))
def test_slopes_of_fig2c(arms: tuple[str, str], power: int):
    """FT − JT closes as 1/n², not as the 1/n of Corollary 1."""
    mix = mixtures.paper("fig2c")
    fitted = slope(gap(theorem_table(mix), arms, "n"))
    assert fitted == pytest.approx(power, abs=0.003)
    assert fitted == pytest.approx(slope(precise_gaps(mix, arms, last_decade(LENGTHS))), abs=1e-6)


@pytest.mark.parametrize("power", [-2, -1, -0.5])
def test_slope_is_that_of_the_last_decade(power: float):
    lengths = [1, 10, 999, 1000, 5000, 10_000]
    values = pd.Series([7.0, 7, 7, *(n**power for n in lengths[3:])], lengths)
    assert slope(values) == pytest.approx(power, abs=1e-12)


def test_a_gap_of_rounding_has_no_slope():
    """Without means all theorems are one."""
    table = theorem_table(mixtures.paper("fig2b"))
    assert all(math.isnan(slope(gap(table, arms, "n"))) for arms in GAPS)
