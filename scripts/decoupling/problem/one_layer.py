"""Risk and gradient of one-layer models, exact in the moments they are given.

A one-layer model predicts ŷ = xᵀu with u = A₁(S + p_k p_kᵀ)a_k: A₁ is the first d rows of
WqWkᵀ, a_k = Wv h_k, S the Gram matrix of the context. The query and its noise integrate out:
risk = E[(u − β)ᵀΣx(u − β)] + σ².

With φ = Sa + p(pᵀa) this is ⟨ΣxA₁, A₁E[φφᵀ] − 2E[βφᵀ]⟩ + E[y²]. Everything is batched over
seeds; tasks come first ([K, seeds, D]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .packing import packing

if TYPE_CHECKING:
    from .moments import Moments


@dataclass(frozen=True, eq=False)
class OneLayer:
    """All that the data meet of a one-layer model; also holds the gradient with respect to it."""

    scores: np.ndarray  # A₁: [seeds, d, D]
    readouts: np.ndarray  # a_k: [K, seeds, D], or [1, seeds, D] where tasks share the head
    prompts: np.ndarray | None  # p_k: [K, seeds, D]


@dataclass(frozen=True, eq=False)
class _Features:
    """E[φφᵀ] and E[βφᵀ] summed over tasks, with the pieces the gradient needs again."""

    outer: np.ndarray  # E[φφᵀ]: [seeds, D, D]
    beta: np.ndarray  # E[βφᵀ]: [seeds, d, D]
    gram_readouts: np.ndarray | None  # E[S]a_k: [K, seeds, D]
    overlap: np.ndarray | None  # pᵀa: [K, seeds, 1]


def features(moments: Moments, readouts: np.ndarray, prompts: np.ndarray | None) -> _Features:
    pack = packing(readouts.shape[-1])
    second, cross = _readout_moments(moments, readouts)
    outer = pack.square((pack.outer(readouts) @ second).sum(0))
    beta = (readouts @ cross).sum(0).reshape(-1, pack.size - 1, pack.size)
    if prompts is None:
        return _Features(outer, beta, None, None)
    gram_readouts = readouts @ moments.first
    overlap = (prompts * readouts).sum(-1, keepdims=True)
    shift = overlap * prompts
    half = overlap * gram_readouts + (0.5 * moments.mass[:, None, None]) * overlap * shift
    by_seed = prompts.swapaxes(0, 1)
    prompt_part = half.swapaxes(0, 1).mT @ by_seed
    outer = outer + prompt_part + prompt_part.mT
    beta = beta + moments.beta.T @ shift.swapaxes(0, 1)
    return _Features(outer, beta, gram_readouts, overlap)


def risk(moments: Moments, model: OneLayer) -> np.ndarray:
    """The risk of every seed, [seeds]."""
    f = features(moments, model.readouts, model.prompts)
    weighted = _weight_features(moments, model.scores)
    return (weighted * (model.scores @ f.outer - 2 * f.beta)).sum((1, 2)) + moments.label_power


def risk_and_gradient(moments: Moments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """The risk of every seed and its gradient with respect to A₁, a_k and p_k."""
    f = features(moments, model.readouts, model.prompts)
    readouts, prompts = model.readouts, model.prompts
    pack = packing(readouts.shape[-1])
    weighted = _weight_features(moments, model.scores)  # ΣxA₁
    fitted = model.scores @ f.outer
    value = (weighted * (fitted - 2 * f.beta)).sum((1, 2)) + moments.label_power
    grad_scores = 2 * _weight_features(moments, fitted - f.beta)

    # ∂risk/∂E[φφᵀ] = B = A₁ᵀΣxA₁ and ∂risk/∂E[βφᵀ] = −2ΣxA₁, carried on to a_k and p_k.
    form = model.scores.mT @ weighted
    second, cross = _readout_moments(moments, readouts)
    pulled = pack.square(pack.pack(form) @ second)
    grad_readouts = (pulled @ readouts[..., None])[..., 0]
    grad_readouts -= weighted.reshape(len(weighted), -1) @ cross.mT
    grad_readouts *= 2
    if prompts is None:
        return value, OneLayer(grad_scores, grad_readouts, None)

    overlap, mass = f.overlap, moments.mass[:, None, None]
    form_prompts = _apply(form, prompts)  # Bp
    form_grams = _apply(form, f.gram_readouts)  # B E[S]a
    label_prompts = (moments.beta @ weighted).swapaxes(0, 1)  # (ΣxA₁)ᵀE[β]
    shift = overlap * form_prompts
    pull = form_grams + mass * shift - label_prompts
    grad_overlap = 2 * (prompts * pull).sum(-1, keepdims=True)
    to_readouts = grad_overlap * prompts + 2 * (shift @ moments.first)
    grad_readouts += to_readouts if len(readouts) > 1 else to_readouts.sum(0)
    grad_prompts = grad_overlap * readouts + 2 * overlap * pull
    return value, OneLayer(grad_scores, grad_readouts, grad_prompts)


def best_readouts(moments: Moments, scores: np.ndarray) -> np.ndarray:
    """The readout of every task with the least risk for given A₁, without prompts, [K, 1, D]:
    E[SBS | k]a_k = E[SA₁ᵀΣxβ | k] with B = A₁ᵀΣxA₁."""
    pack = packing(scores.shape[-1])
    weighted = _weight_features(moments, scores)
    form = pack.square(pack.pack(scores.mT @ weighted) @ moments.second)
    linear = weighted.reshape(1, -1) @ moments.cross.mT
    return np.linalg.solve(form, linear[..., None])[..., 0]


def _weight_features(moments: Moments, matrices: np.ndarray) -> np.ndarray:
    """Σx times a matrix per seed."""
    return matrices if moments.sigma_x is None else moments.sigma_x @ matrices


def _readout_moments(moments: Moments, readouts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (moments.second, moments.cross) if len(readouts) > 1 else moments.pooled


def _apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """A symmetric matrix per seed, [seeds, D, D], on vectors per task and seed, [K, seeds, D]."""
    return (vectors.swapaxes(0, 1) @ matrices).swapaxes(0, 1)
