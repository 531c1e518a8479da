"""What one-layer training needs to know of contexts whose query is not independent of them.

The squared error is (x_qᵀu − y_q)² with u = A₁φ, so that moments of the context's Gram matrix S
come together with x_q x_qᵀ, and y_q x_q stands for β. They are averages over given contexts;
nothing is integrated out. Symmetric index pairs of S are packed: P = D(D+1)/2 of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from .moments import Packing, packing

SLICE = 8_192  # contexts at a time: 43 MB of products at d = 10


@dataclass(frozen=True, eq=False)
class QueryMoments:
    """Moments per task, each already weighted by the task's share of the contexts."""

    second: np.ndarray  # ½E[x_m x_m' (S_il S_jl' + S_jl S_il')]: [K, (ij), (m, l, m', l')]
    cross: np.ndarray  # E[y x_m S_jl]: [K, j, (m, l)]
    first: np.ndarray  # E[x_m x_m' S_jl]: [K, j, (m, m', l)]
    label: np.ndarray  # E[yx]: [K, d]
    square: np.ndarray  # E[xxᵀ]: [K, d, d]
    power: float  # E[y²], of all tasks

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """`second` and `cross` of the mixture as one task, for models that share the head."""
        return self.second.sum(0, keepdims=True), self.cross.sum(0, keepdims=True)


@dataclass(frozen=True, eq=False)
class RawMoments:
    """The same of one task, packed, from which those of shifted labels follow."""

    second: np.ndarray  # E[x_m x_m' S_p S_p']: [d, P, d, P]
    cross: np.ndarray  # E[y x_m S_p]: [d, P]
    first: np.ndarray  # E[x_m x_m' S_p]: [d, d, P]
    label: np.ndarray  # E[yx]: [d]
    square: np.ndarray  # E[xxᵀ]: [d, d]
    power: np.ndarray  # E[y²]: []

    @classmethod
    def of(cls, query: np.ndarray, label: np.ndarray, grams: np.ndarray, total: int) -> RawMoments:
        """Of a task's contexts, over `total` contexts of all tasks: x_q [B, d], y_q [B],
        S [B, D, D]."""
        pack = packing(grams.shape[-1])
        dim, size = query.shape[1], len(pack.rows)
        wide = dim * size
        second, cross, first = np.zeros((wide, wide)), np.zeros(wide), np.zeros((dim, wide))
        for start in range(0, len(query), SLICE):
            part = slice(start, start + SLICE)
            x, entries = query[part], grams[part, pack.rows, pack.cols]
            products = (x[:, :, None] * entries[:, None, :]).reshape(len(x), -1)
            second += products.T @ products
            cross += label[part] @ products
            first += x.T @ products
        return cls(
            (second / total).reshape(dim, size, dim, size),
            (cross / total).reshape(dim, size),
            (first / total).reshape(dim, dim, size),
            label @ query / total,
            query.T @ query / total,
            label @ label / total,
        )

    def less(self, slope: np.ndarray) -> RawMoments:
        """With y − xᵀs for every label y, of the context and of the query."""
        pack = packing(len(slope) + 1)
        change = _congruence(np.append(-slope, 0.0), pack)  # S to TSTᵀ, packed
        second = np.einsum("pq,mqnr,sr->mpns", change, self.second, change, optimize=True)
        first = self.first @ change.T
        cross = self.cross @ change.T - np.einsum("mnp,n->mp", first, slope)
        power = self.power - 2 * self.label @ slope + slope @ self.square @ slope
        label = self.label - self.square @ slope
        return RawMoments(second, cross, first, label, self.square, power)


def assemble(tasks: list[RawMoments]) -> QueryMoments:
    """As risk and gradient need them."""
    names = [field.name for field in fields(RawMoments)]
    stacked = {name: np.stack([getattr(raw, name) for raw in tasks]) for name in names}
    count, dim = stacked["label"].shape
    pack = packing(dim + 1)
    square = stacked["second"][:, :, pack.position][:, :, :, :, :, pack.position]
    # [k, m, i, l, m', j, l'], of which the symmetric part in i, j goes first
    square = square.transpose(0, 2, 5, 1, 3, 4, 6)
    both = (square + square.swapaxes(1, 2))[:, pack.rows, pack.cols] / 2
    cross = stacked["cross"][..., pack.position].transpose(0, 2, 1, 3)
    first = stacked["first"][..., pack.position].transpose(0, 3, 1, 2, 4)
    return QueryMoments(
        np.ascontiguousarray(both).reshape(count, len(pack.rows), -1),
        np.ascontiguousarray(cross).reshape(count, dim + 1, -1),
        np.ascontiguousarray(first).reshape(count, dim + 1, -1),
        stacked["label"],
        stacked["square"],
        float(stacked["power"].sum()),
    )


def _congruence(last_row: np.ndarray, pack: Packing) -> np.ndarray:
    """The matrix by which packed S becomes packed TSTᵀ, T being the identity with this added to its
    last row: [P, P]."""
    transform = np.eye(pack.size)
    transform[-1] += last_row
    rows, cols = pack.rows, pack.cols
    direct = transform[rows][:, rows] * transform[cols][:, cols]
    swapped = transform[rows][:, cols] * transform[cols][:, rows]
    return np.where(rows == cols, direct, direct + swapped)
