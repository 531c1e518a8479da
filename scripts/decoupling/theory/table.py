"""The curves that are computed, not trained: Theorems 1–4 and the exact optimum."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pandas as pd

from .optimum import optima
from .spec import TaskMixture
from .theory import THEOREMS

log = logging.getLogger(__name__)


def theory_table(mix: TaskMixture, context_lengths: Sequence[int]) -> pd.DataFrame:
    """Both curves of one-layer attention at every context length."""
    rows = []
    for n in context_lengths:
        log.info("%s: theorems and optimum at n = %d", mix.name, n)
        found = {("theorem", arm): form(mix, n).risk for arm, form in THEOREMS.items()}
        found |= {("optimum", arm): value for arm, value in optima(mix, n).items()}
        rows += [
            {
                "setting": mix.name,
                "n": n,
                "curve": curve,
                "arm": arm,
                "risk": value,
                "normalized": value / mix.label_power,
            }
            for (curve, arm), value in found.items()
        ]
    return pd.DataFrame(rows).sort_values(["curve", "arm", "n"], ignore_index=True)
