"""Risk and gradient of one layer on a batch, context by context, for large Gram matrices.

A batch's fourth moments (`moments`) cost D⁴/8 a context, once for all seeds and arms, and memory
for as many numbers a task. Without them a context costs 5D² for every seed and arm. With
φ = Sa + p(pᵀa), the error e = A₁φ − β and q = A₁ᵀΣxe, these are Sa, A₁φ, q, and the gradients Σxeφᵀ
of A₁ and Sq of a. Sums are in single precision, as Gram matrices are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .mixture import TaskMixture
from .one_layer import OneLayer, by_sigma_x, unless_identity
from .packing import packing

if TYPE_CHECKING:
    from .gram import GramBatch

PAYS_FROM = 56  # the d from which this is faster, for three or four arms of 50 seeds
PART = 512  # contexts at a time


@dataclass(frozen=True, eq=False)
class EachContext:
    """A batch that gives its risk, as `moments.Moments` do."""

    batch: GramBatch
    sigma_x: np.ndarray | None  # Σx: [d, d]; None for the identity
    noise_var: float

    def risk_and_gradient(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The risk of every seed and its gradient with respect to A₁, a_k and p_k."""
        scores, readouts = (a.astype(np.float32) for a in (model.scores, model.readouts))
        prompts = None if model.prompts is None else model.prompts.astype(np.float32)
        seeds, _, size = scores.shape
        shares = len(prompts) if prompts is not None else 0
        value = np.zeros(seeds)
        grad = OneLayer(
            np.zeros(scores.shape), np.zeros(readouts.shape), np.zeros((shares, seeds, size))
        )
        for k, (packed, betas) in enumerate(zip(self.batch.packed, self.batch.betas, strict=True)):
            r, pulled = min(k, len(readouts) - 1), np.zeros((seeds, size))  # Σ q
            overlap = (prompts[k] * readouts[r]).sum(1, keepdims=True) if shares else 0
            for first in range(0, betas.shape[1], PART):
                part = slice(first, first + PART)
                grams = packed[:, part][packing(size).position].reshape(size, -1)
                features = (readouts[r] @ grams).reshape(seeds, size, -1)
                if shares:
                    features += (overlap * prompts[k])[..., None]
                error = scores @ features - betas[:, part]
                weighted = by_sigma_x(self, error)
                value += (weighted * error).sum((1, 2))
                grad.scores[:] += weighted @ features.mT
                pull = scores.mT @ weighted
                grad.readouts[r] += pull.reshape(seeds, -1) @ grams.T
                pulled += pull.sum(2)
            if shares:
                along = (prompts[k] * pulled).sum(1, keepdims=True)
                grad.readouts[r] += along * prompts[k]
                grad.prompts[k] = along * readouts[r] + overlap * pulled
        means = [2 / self.batch.size * part for part in (grad.scores, grad.readouts, grad.prompts)]
        found = OneLayer(*means[:2], means[2] if shares else None)
        return value / self.batch.size + self.noise_var, found


def each_context(batch: GramBatch, mix: TaskMixture) -> EachContext:
    sigma_x = unless_identity(mix.sigma_x)
    single = None if sigma_x is None else sigma_x.astype(np.float32)
    return EachContext(batch, single, mix.noise_var)
