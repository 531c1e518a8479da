"""Computed curves: closed forms and the numerical optimum."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from ..problem.mixture import TaskMixture
from .optimum import optima
from .theorems import CLOSED_FORMS

log = logging.getLogger(__name__)


def theory_table(mix: TaskMixture, context_lengths: Sequence[int]) -> list[dict[str, Any]]:
    """The references of one-layer attention at every context length."""
    rows = []
    for n in context_lengths:
        log.info("%s: theorems and optimum at n = %d", mix.name, n)
        found = {
            (reference, arm): form(mix, n).risk
            for reference, forms in CLOSED_FORMS.items()
            for arm, form in forms.items()
        }
        found |= {("optimum", arm): value for arm, value in optima(mix, n).items()}
        rows += [
            {
                "setting": mix.name,
                "n": n,
                "curve": reference,
                "arm": arm,
                "risk": value,
                "normalized": value / mix.label_power,
            }
            for (reference, arm), value in found.items()
        ]
    return sorted(rows, key=itemgetter("curve", "arm", "n"))
