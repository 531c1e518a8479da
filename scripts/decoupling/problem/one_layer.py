"""Risk and gradient of one-layer models, exact in the moments they are given.

A one-layer model predicts ŷ = xᵀu with u = A₁(S + p_k p_kᵀ)a_k: A₁ is the first d rows of
WqWkᵀ, a_k = Wv h_k, S the Gram matrix of the context. The query and its noise integrate out:
risk = E[(u − β)ᵀΣx(u − β)] + σ².

With φ = Sa + p(pᵀa) this is ⟨ΣxA₁, A₁E[φφᵀ] − 2E[βφᵀ]⟩ + E[y²]. What these two moments are, and how
a change of them changes readouts and prompts, the data's moments say: `moments`, of a batch, and
`gaussian_moments`. Everything is batched over seeds; tasks come first ([K, seeds, D]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class OneLayer:
    """All that the data meet of a one-layer model; also holds the gradient with respect to it."""

    scores: np.ndarray  # A₁: [seeds, d, D]
    readouts: np.ndarray  # a_k: [K, seeds, D], or [1, seeds, D] where tasks share the head
    prompts: np.ndarray | None  # p_k: [K, seeds, D]


@dataclass(frozen=True, eq=False)
class Features:
    """E[φφᵀ] and E[βφᵀ] summed over tasks, with what their moments need for the gradient."""

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
        """What readouts and prompts do to the risk, given its derivatives B = A₁ᵀΣxA₁ with respect
        to E[φφᵀ] and −2ΣxA₁ with respect to E[βφᵀ]."""
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
    """Training steps are small enough that multiplying by the identity would be felt."""
    return None if np.array_equal(matrix, np.eye(len(matrix))) else matrix
