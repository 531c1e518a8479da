"""Moments for one-layer training on contexts whose query is not independent of them.

The squared error is (x_qᵀu − y_q)² with u = A₁φ, so that moments of the context's Gram matrix S
come together with x_q x_qᵀ, and y_q x_q stands for β. They are averages over given contexts;
no expectation is analytic. Symmetric index pairs of S are packed: P = D(D+1)/2 of them.

ŷ = x_qᵀA₁φ with φ = Sa_k + p_k(p_kᵀa_k), as in `one_layer`. As a quadratic form of A₁'s entries the
risk is ⟨A₁, H A₁⟩ − 2⟨c, A₁⟩ + E[y²] with H = E[x_q x_qᵀ ⊗ φφᵀ] and c = E[y_q x_q ⊗ φ].
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from .one_layer import OneLayer
from .packing import Packing, packing

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

    def risk(self, model: OneLayer) -> np.ndarray:
        """The risk of every seed, [seeds]."""
        return self.risk_and_gradient(model)[0]

    def risk_and_gradient(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The risk of every seed and its gradient with respect to A₁, a_k and p_k."""
        readouts, pack = model.readouts, packing(model.readouts.shape[-1])
        seeds, dim, size = model.scores.shape
        flat = model.scores.reshape(seeds, -1)
        own = (self.second, self.cross) if len(readouts) > 1 else self.pooled
        second, cross = own

        square = (pack.outer(readouts) @ second).sum(0).reshape(seeds, dim * size, -1)
        linear = (readouts @ cross).sum(0)
        fitted = (square @ flat[..., None])[..., 0]
        value = (flat * (fitted - 2 * linear)).sum(1) + self.power
        grad_scores = 2 * (fitted - linear).reshape(seeds, dim, size)
        outer = (flat[:, :, None] * flat[:, None]).reshape(seeds, -1)
        pulled = pack.square(outer @ second.mT)
        grad_readouts = 2 * ((pulled @ readouts[..., None])[..., 0] - flat @ cross.mT)
        if model.prompts is None:
            return value, OneLayer(grad_scores, grad_readouts, None)
        added, grad = self._prompt_part(model)
        to_readouts = grad.readouts if len(readouts) > 1 else grad.readouts.sum(0, keepdims=True)
        return value + added, OneLayer(
            grad_scores + grad.scores, grad_readouts + to_readouts, grad.prompts
        )

    def _prompt_part(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The terms of prompts: with r = A₁p and o = pᵀa, 2o E[(x_qᵀA₁Sa)(x_qᵀr)] + o²E[(x_qᵀr)²]
        − 2o E[y_q x_qᵀr], for each task."""
        scores, prompts = model.scores, model.prompts
        seeds, dim, size = scores.shape
        tasks = len(prompts)
        readouts = np.broadcast_to(model.readouts, prompts.shape)
        overlap = (prompts * readouts).sum(-1, keepdims=True)  # o
        reach = (scores @ prompts[..., None])[..., 0]  # r: [K, seeds, d]
        grams = (readouts @ self.first).reshape(tasks, seeds, dim, dim * size)
        shift = (grams @ scores.reshape(seeds, -1, 1))[..., 0]  # E[x_q x_qᵀA₁Sa]
        spread = reach @ self.square
        label = self.label[:, None]

        by_overlap = ((2 * shift + 2 * overlap * spread - 2 * label) * reach).sum(-1, keepdims=True)
        added = (overlap * (by_overlap - overlap * (reach * spread).sum(-1, keepdims=True))).sum(
            (0, 2)
        )
        by_reach = 2 * overlap * (shift + overlap * spread - label)
        back = 2 * overlap * reach
        direct = (back[:, :, None, None] @ grams.reshape(tasks, seeds, dim, dim, size))[..., 0, :]
        grad_scores = (direct + by_reach[..., None] * prompts[..., None, :]).sum(0)
        products = scores[:, :, None] * back[..., None, :, None]  # A₁ ⊗ 2or: [K, seeds, m, m', l]
        grad_readouts = products.reshape(tasks, seeds, -1) @ self.first.mT + by_overlap * prompts
        grad_prompts = (by_reach[..., None, :] @ scores)[..., 0, :] + by_overlap * readouts
        return added, OneLayer(grad_scores, grad_readouts, grad_prompts)


@dataclass(frozen=True, eq=False)
class RawMoments:
    """Moments of one task, packed, from which those of shifted labels follow."""

    second: np.ndarray  # E[x_m x_m' S_p S_p']: [d, P, d, P]
    cross: np.ndarray  # E[y x_m S_p]: [d, P]
    first: np.ndarray  # E[x_m x_m' S_p]: [d, d, P]
    label: np.ndarray  # E[yx]: [d]
    square: np.ndarray  # E[xxᵀ]: [d, d]
    power: np.ndarray  # E[y²]: []

    @classmethod
    def of(cls, query: np.ndarray, label: np.ndarray, grams: np.ndarray, total: int) -> RawMoments:
        """The moments of a task's contexts, over `total` contexts of all tasks: x_q [B, d],
        y_q [B], S [B, D, D]."""
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
        """Moments after every label y, of context and query, is replaced by y − xᵀs."""
        pack = packing(len(slope) + 1)
        change = _congruence(np.append(-slope, 0.0), pack)  # S to TSTᵀ, packed
        second = np.einsum("pq,mqnr,sr->mpns", change, self.second, change, optimize=True)
        first = self.first @ change.T
        cross = self.cross @ change.T - np.einsum("mnp,n->mp", first, slope)
        power = self.power - 2 * self.label @ slope + slope @ self.square @ slope
        label = self.label - self.square @ slope
        return RawMoments(second, cross, first, label, self.square, power)


def assemble(tasks: list[RawMoments]) -> QueryMoments:
    """Moments in the form that risk and gradient need."""
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
