"""Random mixtures, to see how far closed forms lie above the numerical optimum in general.

Mixture i of a seed is the same whichever others are drawn. K and d are uniform on 1 … 4 and 1 … 8,
weights Dirichlet(5, …, 5), entries of the means N(0, 1). Σx and every Σ_k have random axes, and
eigenvalues whose logarithms are uniform between those of ¼ and 4. σ² is 0 with probability ⅓, else
uniform on [0, 3]; n is 2^u rounded, with u uniform on [0, 6].
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ..problem.mixture import TaskMixture
from .table import theory_table

log = logging.getLogger(__name__)

MOST_TASKS, MOST_DIMENSIONS, SPREAD, MOST_NOISE, LOG2_LENGTH = 4, 8, 4.0, 3.0, 6


def draw_mixture(seed: int, index: int) -> tuple[TaskMixture, int]:
    """Mixture `index` of a seed, and its n."""
    rng = np.random.default_rng([seed, index])
    tasks, dim = (int(rng.integers(1, most + 1)) for most in (MOST_TASKS, MOST_DIMENSIONS))
    weights = rng.dirichlet(np.full(tasks, 5.0))
    means = rng.standard_normal((tasks, dim))
    covs = np.stack([_covariance(rng, dim) for _ in range(tasks)])
    sigma_x = _covariance(rng, dim)
    noise = 0.0 if rng.random() < 1 / 3 else float(rng.uniform(0, MOST_NOISE))
    n = round(2 ** rng.uniform(0, LOG2_LENGTH))
    return TaskMixture(f"{seed}.{index}", weights, means, covs, sigma_x, noise), n


def _covariance(rng: np.random.Generator, dim: int) -> np.ndarray:
    basis, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    matrix = (basis * SPREAD ** rng.uniform(-1, 1, dim)) @ basis.T
    return (matrix + matrix.T) / 2


def sampled_table(seed: int, first: int, last: int) -> list[dict[str, Any]]:
    """All references of the mixtures `first` to `last`, both included."""
    rows = []
    for index in range(first, last + 1):
        mix, n = draw_mixture(seed, index)
        log.info("mixture %d of %d to %d: d = %d, K = %d", index, first, last, mix.dim, mix.tasks)
        about = {"mixture": index, "d": mix.dim, "K": mix.tasks, "noise_var": mix.noise_var}
        rows += [row | about for row in theory_table(mix, [n])]
    return rows
