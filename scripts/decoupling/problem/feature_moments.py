"""Moments of x that the theorems need, for rows that may be dependent and not Gaussian.

The closed forms use moments of order four within a row and across two rows of a context; if the
query depends on these rows, also their products with x_q x_qᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .packing import packing

SLICE = 65_536  # contexts at a time


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """Rows i ≠ j of a context and its query q are exchangeable; all have the second moment Σx."""

    sigma_x: np.ndarray  # E[xxᵀ]: [d, d]
    fourth: np.ndarray  # E[x_i x_iᵀ ⊗ x_i x_iᵀ]: [d] * 4
    pair: np.ndarray  # E[x_i x_iᵀ ⊗ x_j x_jᵀ], and the same with the query: [d] * 4
    query_fourth: np.ndarray  # E[x_q x_qᵀ ⊗ x_i x_iᵀ ⊗ x_i x_iᵀ]: [d] * 6
    query_pair: np.ndarray  # E[x_q x_qᵀ ⊗ x_i x_iᵀ ⊗ x_j x_jᵀ]: [d] * 6

    @classmethod
    def independent(cls, sigma_x: np.ndarray, fourth: np.ndarray) -> FeatureMoments:
        """Moments of independent rows with this fourth moment."""
        pair = np.multiply.outer(sigma_x, sigma_x)
        with_query = (np.multiply.outer(sigma_x, moment) for moment in (fourth, pair))
        return cls(sigma_x, fourth, pair, *with_query)

    @classmethod
    def gaussian(cls, sigma_x: np.ndarray) -> FeatureMoments:
        """Independent Gaussian rows: E[xxᵀBxxᵀ] = 2ΣxBΣx + tr(ΣxB)Σx."""
        pair = np.multiply.outer(sigma_x, sigma_x)
        return cls.independent(
            sigma_x, pair + pair.transpose(0, 2, 1, 3) + pair.transpose(0, 3, 2, 1)
        )

    @classmethod
    def measured(cls, x: np.ndarray) -> FeatureMoments:
        """Averages over contexts [contexts, n + 1, d], whose last row is the query. With n = 1,
        moments of two other rows are 0, and not needed."""
        return PooledMoments([x]).mean(np.ones(1))

    def to_dict(self) -> dict[str, Any]:
        """Packed arrays, for JSON."""
        pack = packing(len(self.sigma_x))
        found = {}
        for name, array in vars(self).items():
            for axis in range(array.ndim // 2):  # each pair of axes becomes one
                array = np.moveaxis(array, (axis, axis + 1), (0, 1))[pack.rows, pack.cols]
                array = np.moveaxis(array, 0, axis)
            found[name] = array.tolist()
        return found

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> FeatureMoments:
        size = round(((8 * len(fields["sigma_x"]) + 1) ** 0.5 - 1) / 2)
        position = packing(size).position
        return cls(*(_unpack(np.array(fields[name]), position) for name in cls.__annotations__))


class PooledMoments:
    """Moments of several sets of contexts of one length, to be averaged with any weights."""

    def __init__(self, sets: Iterable[np.ndarray]) -> None:
        found = [(len(x), _averages(x), x.shape[2]) for x in sets]
        self._counts = np.array([count for count, _, _ in found])
        parts = zip(*(averages for _, averages, _ in found), strict=True)
        self._averages = [np.stack(part) for part in parts]
        self._position = packing(found[0][2]).position

    def mean(self, weights: np.ndarray) -> FeatureMoments:
        """The average with these weights of sets; every context counts with its set's weight."""
        shares = weights * self._counts
        shares = shares / shares.sum()
        means = (np.tensordot(shares, averages, 1) for averages in self._averages)
        return FeatureMoments(*(_unpack(mean, self._position) for mean in means))


def _averages(x: np.ndarray) -> list[np.ndarray]:
    """The fields of FeatureMoments, packed."""
    n, pack = x.shape[1] - 1, packing(x.shape[2])
    size = len(pack.rows)
    sums = [np.zeros((size,) * order) for order in (1, 2, 2, 3, 3)]
    for start in range(0, len(x), SLICE):
        part = x[start : start + SLICE]
        for total, found in zip(sums, _sums(part, pack.rows, pack.cols), strict=True):
            total += found
    counts = np.array([n + 1, n + 1, n * (n + 1), n, max(1, n * (n - 1))]) * len(x)
    return [total / count for total, count in zip(sums, counts, strict=True)]


def _sums(x: np.ndarray, rows: np.ndarray, cols: np.ndarray) -> tuple[np.ndarray, ...]:
    """Over contexts and rows: xxᵀ; xxᵀ ⊗ xxᵀ of a row, and of two; both ⊗ x_q x_qᵀ."""
    entries = x[..., rows] * x[..., cols]  # [contexts, n + 1, P]
    flat = entries.reshape(-1, len(rows))
    total = entries.sum(1)
    own = flat.T @ flat
    query, context = entries[:, -1], entries[:, :-1]
    inner = total - query
    by_query, pairs = [], []
    for weight in query.T:
        weighted = (context * weight[:, None, None]).reshape(-1, len(rows))
        by_query.append(weighted.T @ context.reshape(-1, len(rows)))
        pairs.append((inner * weight[:, None]).T @ inner - by_query[-1])
    return flat.sum(0), own, total.T @ total - own, np.stack(by_query), np.stack(pairs)


def _unpack(array: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Unpack every axis to two."""
    for axis in range(array.ndim):
        array = array.take(position, axis=2 * axis)
    return array
