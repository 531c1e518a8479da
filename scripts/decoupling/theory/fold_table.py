"""Predicted risks of a table's fold, from its training units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..problem.feature_moments import FeatureMoments
from ..problem.mixture import TaskMixture
from .theorems import CLOSED_FORMS
from .theorems_general_x import GENERAL_X


def fold_table(
    mix: TaskMixture, moments: FeatureMoments, lengths: Sequence[int], label_power: float
) -> list[dict[str, Any]]:
    """Risks of the closed forms at every n, also over the data's E[y²]: for Gaussian x as in the
    paper (`theorem`), for the measured moments of x (`measured`), and for independent rows with the
    measured fourth moment (`independent`)."""
    independent = FeatureMoments.independent(mix.sigma_x, moments.fourth)
    rows = []
    for n in lengths:
        found = {("theorem", arm): CLOSED_FORMS["theorem"][arm](mix, n).risk for arm in GENERAL_X}
        for curve, given in (("measured", moments), ("independent", independent)):
            found |= {(curve, arm): form(mix, given, n).risk for arm, form in GENERAL_X.items()}
        point = {"setting": mix.name, "n": n}
        rows += [
            {**point, "curve": c, "arm": a, "risk": risk, "normalized": risk / label_power}
            for (c, a), risk in found.items()
        ]
    return rows
