"""The bootstrap of a fold's predictions: theory for other draws of its units.

The bootstrap is over clusters of units (`fold_by`), which stay in one fold. In every draw each
cluster has a random weight with mean 1 (Rubin's Bayesian bootstrap, in which no group is ever
empty). The weights of a draw are the same in all folds and for the held-out risks, so that
predictions and measurements are paired. The scale of x and y is not estimated again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..problem.feature_moments import PooledMoments
from ..sources.table.estimate import estimate, sums_of
from ..sources.table.spec import Fold
from ..theory.fold_table import fold_table
from .gate import fails_gate

log = logging.getLogger(__name__)

DRAWS = 2000
THEORY_DRAWS = 200  # those with theory, by which standard errors are known to 5%
SEED = 2503
TOLERANCE = 1e-4  # of a draw's REML: standard errors change by 0.4%, in a tenth of the time
SECONDS = 10  # between two lines of the log


def cluster_weights(count: int) -> np.ndarray:
    """Weights of clusters in the order of their names: [draws, clusters]."""
    rng = np.random.default_rng([SEED, count])
    return count * rng.dirichlet(np.ones(count), DRAWS)


def redrawn_rows(fold: Fold, lengths: Sequence[int]) -> list[dict[str, Any]]:
    """A row per draw, n, curve and arm. Mixture and moments are estimated from the units with the
    draw's weights."""
    place = {name: i for i, name in enumerate(fold.clusters)}
    cluster = np.array([place[unit.cluster] for unit in fold.training])
    group = np.array([unit.group for unit in fold.training])
    sums = sums_of(fold.training, fold.groups, fold.intercept, fold.differences)
    contexts = fold.moment_contexts()
    present = np.unique(cluster)
    pooled = PooledMoments(contexts.x[cluster[contexts.unit] == own] for own in present)
    start = estimate(fold.mix.name, sums)
    rows, began, said = [], time.monotonic(), time.monotonic()
    for draw, weights in enumerate(cluster_weights(len(place))[:THEORY_DRAWS]):
        by_unit = weights[cluster]
        weighed = [
            replace(own, weight=by_unit[group == name])
            for own, name in zip(sums, fold.groups, strict=True)
        ]
        found = estimate(fold.mix.name, weighed, start.effects, TOLERANCE)
        table = fold_table(found.mix, pooled.mean(weights[present]), lengths, found.label_power)
        rows += [{**row, "draw": draw, "gate": found.gate} for row in table]
        if time.monotonic() - said > SECONDS:
            said = time.monotonic()
            left = (said - began) * (THEORY_DRAWS / (draw + 1) - 1)
            log.info("%s: draw %d of %d, %.0f s left", fold.mix.name, draw + 1, THEORY_DRAWS, left)
    return rows


def gate_warning(fold: Fold, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Log the fold's gate with its error. Returns a warning if the gate fails, else None."""
    error = float(np.std([*{row["draw"]: row["gate"] for row in rows}.values()], ddof=1))
    about = f"{fold.mix.name}: E[y²] predicted over measured is {fold.gate:.3f} ± {error:.3f}"
    log.info(about)
    if not fails_gate(fold.gate, error):
        return None
    return f"{about}, so that the mixture does not describe the data; theory need not hold"
