"""Mixtures that a few numbers describe: Σx = I, μ_k = c_k·1, and Σ_k = s_k·B with one diagonal B.

All settings of the paper are of this kind, and the explorer's controls describe it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .mixture import TaskMixture

MOST_DIM = 30  # the explorer redraws in a frame or two up to here
MOST_TASKS = 3
SAME = 1e-12  # relative, for rounding


def controls(mix: TaskMixture) -> dict[str, Any] | None:
    """The mixture's numbers, under the config's keys (`cov_base` is None for the identity); or None
    if it is not of this kind, or too large."""
    if mix.dim > MOST_DIM or mix.tasks > MOST_TASKS:
        return None
    if not np.array_equal(mix.sigma_x, np.eye(mix.dim)):
        return None
    if not (mix.means == mix.means[:, :1]).all():
        return None
    diagonals = np.einsum("kii->ki", mix.covs)
    off_diagonal = mix.covs - diagonals[:, :, None] * np.eye(mix.dim)
    if off_diagonal.any():
        return None
    base = np.ones(mix.dim) if _constant(diagonals[0]) else diagonals[0]
    scales = diagonals[:, 0] / base[0]
    if not np.allclose(diagonals, scales[:, None] * base, rtol=SAME, atol=0):
        return None
    return {
        "d": mix.dim,
        "weights": mix.weights.tolist(),
        "means": mix.means[:, 0].tolist(),
        "covs": scales.tolist(),
        "cov_base": None if _constant(base) else base.tolist(),
        "noise_var": mix.noise_var,
    }


def _constant(values: np.ndarray) -> bool:
    return bool((values == values[0]).all())
