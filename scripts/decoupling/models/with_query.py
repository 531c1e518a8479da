"""Risk and gradient of one-layer models on moments that have the query in them.

ŷ = x_qᵀA₁φ with φ = Sa_k + p_k(p_kᵀa_k), as in `one_layer`. As a quadratic form of A₁'s entries the
risk is ⟨A₁, H A₁⟩ − 2⟨c, A₁⟩ + E[y²] with H = E[x_q x_qᵀ ⊗ φφᵀ] and c = E[y_q x_q ⊗ φ].
"""

from __future__ import annotations

import numpy as np

from ..problem.moments import packing
from ..problem.query_moments import QueryMoments
from .one_layer import OneLayer


def risk(moments: QueryMoments, model: OneLayer) -> np.ndarray:
    """The risk of every seed, [seeds]."""
    return risk_and_gradient(moments, model)[0]


def risk_and_gradient(moments: QueryMoments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """The risk of every seed and its gradient with respect to A₁, a_k and p_k."""
    readouts, pack = model.readouts, packing(model.readouts.shape[-1])
    seeds, dim, size = model.scores.shape
    flat = model.scores.reshape(seeds, -1)
    own = (moments.second, moments.cross) if len(readouts) > 1 else moments.pooled
    second, cross = own

    square = (pack.outer(readouts) @ second).sum(0).reshape(seeds, dim * size, -1)
    linear = (readouts @ cross).sum(0)
    fitted = (square @ flat[..., None])[..., 0]
    value = (flat * (fitted - 2 * linear)).sum(1) + moments.power
    grad_scores = 2 * (fitted - linear).reshape(seeds, dim, size)
    outer = (flat[:, :, None] * flat[:, None]).reshape(seeds, -1)
    pulled = pack.square(outer @ second.mT)
    grad_readouts = 2 * ((pulled @ readouts[..., None])[..., 0] - flat @ cross.mT)
    if model.prompts is None:
        return value, OneLayer(grad_scores, grad_readouts, None)
    added, grad = _prompt_part(moments, model)
    to_readouts = grad.readouts if len(readouts) > 1 else grad.readouts.sum(0, keepdims=True)
    return value + added, OneLayer(
        grad_scores + grad.scores, grad_readouts + to_readouts, grad.prompts
    )


def _prompt_part(moments: QueryMoments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """What prompts add: with r = A₁p and o = pᵀa, 2o E[(x_qᵀA₁Sa)(x_qᵀr)] + o²E[(x_qᵀr)²]
    − 2o E[y_q x_qᵀr], for each task."""
    scores, prompts = model.scores, model.prompts
    seeds, dim, size = scores.shape
    tasks = len(prompts)
    readouts = np.broadcast_to(model.readouts, prompts.shape)
    overlap = (prompts * readouts).sum(-1, keepdims=True)  # o
    reach = (scores @ prompts[..., None])[..., 0]  # r: [K, seeds, d]
    grams = (readouts @ moments.first).reshape(tasks, seeds, dim, dim * size)
    shift = (grams @ scores.reshape(seeds, -1, 1))[..., 0]  # E[x_q x_qᵀA₁Sa]
    spread = reach @ moments.square
    label = moments.label[:, None]

    by_overlap = ((2 * shift + 2 * overlap * spread - 2 * label) * reach).sum(-1, keepdims=True)
    added = (overlap * (by_overlap - overlap * (reach * spread).sum(-1, keepdims=True))).sum((0, 2))
    by_reach = 2 * overlap * (shift + overlap * spread - label)
    back = 2 * overlap * reach
    direct = (back[:, :, None, None] @ grams.reshape(tasks, seeds, dim, dim, size))[..., 0, :]
    grad_scores = (direct + by_reach[..., None] * prompts[..., None, :]).sum(0)
    products = scores[:, :, None] * back[..., None, :, None]  # A₁ ⊗ 2or: [K, seeds, m, m', l]
    grad_readouts = products.reshape(tasks, seeds, -1) @ moments.first.mT + by_overlap * prompts
    grad_prompts = (by_reach[..., None, :] @ scores)[..., 0, :] + by_overlap * readouts
    return added, OneLayer(grad_scores, grad_readouts, grad_prompts)
