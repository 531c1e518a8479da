"""Wishart matrices by Bartlett's decomposition: WWᵀ with W lower triangular."""

from __future__ import annotations

import numpy as np


def bartlett(
    rng: np.random.Generator, n: int, size: int, count: int, dtype: type = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """B with BBᵀ ~ Wishart_size(n, I), [size, min(n, size)], for `count` contexts.

    Its entries below the diagonal, standard normal, row by row: [·, count]; and those on it,
    √χ²_{n−i}: [min(n, size), count].
    """
    rank = min(n, size)
    below = rng.standard_normal((len(np.tril_indices(size, -1, rank)[0]), count), dtype=dtype)
    chi2 = [2 * rng.standard_gamma((n - i) / 2, count, dtype=dtype) for i in range(rank)]
    return below, np.sqrt(np.stack(chi2))


def wishart_factor(
    rng: np.random.Generator, n: int, size: int, count: int, dtype: type
) -> np.ndarray:
    """The same B in full: [count, size, min(n, size)]."""
    below, diagonal = bartlett(rng, n, size, count, dtype)
    rank = len(diagonal)
    factor = np.zeros((count, size, rank), dtype=dtype)
    factor[:, *np.tril_indices(size, -1, rank)] = below.T
    factor[:, range(rank), range(rank)] = diagonal.T
    return factor
