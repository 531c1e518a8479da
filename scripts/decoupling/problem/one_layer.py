"""Risk and gradient of one-layer models, exact in the moments they are given.

A one-layer model predicts ŷ = xᵀu with u = A₁(S + p_k p_kᵀ)a_k: A₁ is the first d rows of
WqWkᵀ, a_k = Wv h_k, S the Gram matrix of the context. The query and its noise integrate out:
risk = E[(u − β)ᵀΣx(u − β)] + σ².

With φ = Sa + p(pᵀa) this is ⟨ΣxA₁, A₁E[φφᵀ] − 2E[βφᵀ]⟩ + E[y²]. These two moments, and their
derivatives with respect to readouts and prompts, follow from moments of the data: `moments` of a
batch, or `gaussian_moments`. Arrays are batched over seeds, after tasks ([K, seeds, D]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class OneLayer:
    """A one-layer model as engines need it; also holds the gradient with respect to it."""

    scores: np.ndarray  # A₁: [seeds, d, D]
    readouts: np.ndarray  # a_k: [K, seeds, D], or [1, seeds, D] where tasks share the head
    prompts: np.ndarray | None  # p_k: [K, seeds, D]


@dataclass(frozen=True, eq=False)
class Features:
    """E[φφᵀ] and E[βφᵀ] summed over tasks, with intermediate results for the gradient."""

    outer: np.ndarray  # [seeds, D, D]
    beta: np.ndarray  # [seeds, d, D]
    kept: Any


class LayerMoments(Protocol):
    """Moments of contexts and tasks."""

    label_power: float  # E[y²]
    sigma_x: np.ndarray | None  # Σx: [d, d]; None for the identity

    def features(self, readouts: np.ndarray, prompts: np.ndarray | None) -> Features: ...

    def pull(
        self, model: OneLayer, found: Features, form: np.ndarray, weighted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradients with respect to readouts and prompts, given the risk's derivatives B = A₁ᵀΣxA₁
        with respect to E[φφᵀ] and −2ΣxA₁ with respect to E[βφᵀ]."""
        ...


def risk(moments: LayerMoments, model: OneLayer) -> np.ndarray:
    """The risk of every seed, [seeds]."""
    found = moments.features(model.readouts, model.prompts)
    weighted = by_sigma_x(moments, model.scores)
    change = model.scores @ found.outer - 2 * found.beta
    return (weighted * change).sum((1, 2)) + moments.label_power


def risk_and_gradient(moments: LayerMoments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """The risk of every seed and its gradient with respect to A₁, a_k and p_k."""
    found = moments.features(model.readouts, model.prompts)
    weighted = by_sigma_x(moments, model.scores)
    fitted = model.scores @ found.outer
    value = (weighted * (fitted - 2 * found.beta)).sum((1, 2)) + moments.label_power
    grad_scores = 2 * by_sigma_x(moments, fitted - found.beta)
    form = model.scores.mT @ weighted
    return value, OneLayer(grad_scores, *moments.pull(model, found, form, weighted))


def by_sigma_x(moments: LayerMoments, matrices: np.ndarray) -> np.ndarray:
    """Σx times a matrix per seed."""
    return matrices if moments.sigma_x is None else moments.sigma_x @ matrices


def unless_identity(matrix: np.ndarray) -> np.ndarray | None:
    """None for the identity: a product with it would be a notable part of a training step."""
    return None if np.array_equal(matrix, np.eye(len(matrix))) else matrix
