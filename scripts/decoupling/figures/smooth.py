"""Closed forms as smooth curves. In data/theory they are at the setting's context lengths alone,
between which lines would be straight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..theory.theorems import CLOSED_FORMS

if TYPE_CHECKING:
    import pandas as pd

    from ..problem.mixture import TaskMixture

MOST = 120  # points of a line, if it spans more whole numbers


def filled(theory: pd.DataFrame, mix: TaskMixture) -> pd.DataFrame:
    """A mixture's rows of data/theory, sorted by n, with closed forms at every n between the first
    and the last. Numerical references stay as they are."""
    import pandas as pd

    found = [theory]
    for (reference, arm), rows in theory.groupby(["curve", "arm"]):
        form = CLOSED_FORMS.get(reference, {}).get(arm)
        if form is not None:
            n = sorted(set(_whole(rows.n.min(), rows.n.max())) - set(rows.n))
            risks = np.array([form(mix, length).risk for length in n])
            values = {"n": n, "risk": risks, "normalized": risks / mix.label_power}
            found.append(pd.DataFrame({"curve": reference, "arm": arm, **values}))
    return pd.concat([part for part in found if len(part)] or found).sort_values("n")


def _whole(low: int, high: int) -> list[int]:
    """Whole numbers from low to high. Of many, only those that a line needs on a linear and on a
    logarithmic axis."""
    if high - low <= MOST:
        return list(range(low, high + 1))
    points = [*np.linspace(low, high, MOST), *np.geomspace(low, high, MOST)]
    return sorted({round(point) for point in points})
