"""Wishart matrices by Bartlett's decomposition: BBᵀ ~ Wishart_size(n, I) with B lower triangular,
[size, min(n, size)]: standard normals below the diagonal, √χ²_{n−i} on it."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def below(n: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries below the diagonal, row by row."""
    return np.tril_indices(size, -1, min(n, size))


def diagonal(
    rng: np.random.Generator, n: int, size: int, count: int, dtype: type = np.float32
) -> np.ndarray:
    """Entries on the diagonal of `count` matrices: [min(n, size), count]."""
    freedom = [n - i for i in range(min(n, size))]
    return np.sqrt(np.stack([2 * rng.standard_gamma(f / 2, count, dtype) for f in freedom]))


def wishart_factor(rng: np.random.Generator, n: int, size: int, count: int) -> np.ndarray:
    """`count` matrices B in double precision: [count, size, min(n, size)]."""
    places, rank = below(n, size), min(n, size)
    factor = np.zeros((count, size, rank))
    factor[:, *places] = rng.standard_normal((len(places[0]), count)).T
    factor[:, range(rank), range(rank)] = diagonal(rng, n, size, count, np.float64).T
    return factor
