"""Importance sampling of contexts, with weights that keep means unbiased.

The error of L layers is a polynomial of high degree in the context: degree 26 in the Gram matrix of
x for L = 3. So contexts that are too rare to be in a million draws, with one large eigenvalue of
that matrix or a long β, can carry most of a risk. Here they are a share of the contexts: β is drawn
farther from its mean, and the largest eigenvalue λ₁ is moved to λ₁ + t. A context's weight is its
density over the one by which it was drawn. (From four layers on, errors of these contexts can
overflow single precision; then a seed counts as diverged.)

In coordinates in which x is white, eigenvectors are independent of eigenvalues, whose density is
∝ Π λ_i^{(q−p−1)/2} e^{−λ_i/2} · Π_{i<j} (λ_i − λ_j), with p the smaller of n and d and q the other.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..kernels.spectrum import spectrum
from .wishart import below

SHARE = 0.4  # of contexts that are moved, equally many by each shift t
# Large enough for d = 10, n ≤ 20 and L = 3, where eigenvalues up to 140 carry the squared errors.
# Close together, as a shift t does not contribute where λ₁ − t is below λ₂.
SHIFTS = range(0, 101, 10)


def variance_factor(dim: int) -> float:
    """The factor of the variance of β − μ: two for d = 10, and such that the weight of an ordinary
    context hardly depends on d."""
    return 1 + (10 / dim) ** 0.5


class ImportanceContexts:
    """Contexts of one task, ordinary ones first, then those of each shift.

    `white` is z in β = μ + Lz, [d, count], and is scaled before β is computed; `entries`, below the
    diagonal, and `diagonal` are factors of Gram matrices as in `gram`, which `move` changes after
    packing.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        n: int,
        white: np.ndarray,
        entries: np.ndarray,
        diagonal: np.ndarray,
    ) -> None:
        dim, count = white.shape
        ways = rng.multinomial(count, [1 - SHARE, *[SHARE / len(SHIFTS)] * len(SHIFTS)])
        self._shifts = np.repeat(np.array([0, *SHIFTS]), ways)
        white[:, ways[0] :] *= np.float32(variance_factor(dim) ** 0.5)
        self._top, others, self._leading = spectrum(_columns(n, dim, entries, diagonal))
        x = _density_ratios(n, dim, self._top + self._shifts, others)
        self.weights = 1 / (1 - SHARE + SHARE * _beta_ratios(white) * x.mean(0))

    def move(self, packed: np.ndarray, chol_x: np.ndarray, noise: float, beta: np.ndarray) -> None:
        """Lengthens a in the leading column C[a; e] of a context's factor, in place."""
        last = slice(np.count_nonzero(self._shifts == 0), None)
        longer = np.sqrt(1 + self._shifts[last] / self._top[last]).astype(np.float32)
        features = chol_x @ self._leading[:-1, last]
        labels = (beta[:, last] * features).sum(0)
        noise_part = np.float32(noise) * self._leading[-1, last]
        old = np.vstack([features, labels + noise_part])
        new = np.vstack([longer * features, longer * labels + noise_part])
        rows, columns = _upper(len(old))
        packed[:, last] += new[rows] * new[columns] - old[rows] * old[columns]


def _columns(n: int, dim: int, entries: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Columns of the factor B that belong to x, with the label's row: [min(n, d), D, count]."""
    own, places = _of_x(n, dim)
    count = min(n, dim)
    factor = np.zeros((count, dim + 1, entries.shape[1]), np.float32)
    factor[places] = entries[own]
    factor[range(count), range(count)] = diagonal[:count]
    return factor


@cache
def _of_x(n: int, dim: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """A mask of the entries below the diagonal that belong to x, and their columns and rows."""
    rows, columns = below(n, dim + 1)
    own = columns < min(n, dim)
    return own, (columns[own], rows[own])


_upper = cache(np.triu_indices)


def _density_ratios(n: int, dim: int, top: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The density of eigenvalues, `top` the largest, after a shift t over that without one:
    [shifts, count]. Double precision, as e^{t/2} is large."""
    inverse = 1 / np.concatenate([top - others, top[None]]).astype(float)
    shifts, exponent = np.array(SHIFTS, float)[:, None], (abs(n - dim) - 1) / 2
    # λ₁ − t − λ_i, and λ₁ − t, over their values at t = 0
    ratios = np.ones((len(SHIFTS), len(top)))
    for row in inverse[:-1]:
        ratios *= 1 - shifts * row
    ratios *= np.exp(shifts / 2)
    with np.errstate(divide="ignore"):  # λ₁ = t
        ratios *= np.abs(1 - shifts * inverse[-1]) ** exponent
    return np.where(shifts * inverse.max(0) < 1, ratios, 0)  # 0 where λ₁ − t is not the largest


def _beta_ratios(white: np.ndarray) -> np.ndarray:
    """The density of the scaled z over the standard normal density."""
    factor = variance_factor(len(white))
    square = (white.astype(float) ** 2).sum(0)
    return factor ** (-len(white) / 2) * np.exp(square * (1 - 1 / factor) / 2)
