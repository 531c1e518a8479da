"""The Bayes-optimal predictor, which no model can beat: the posterior mean of β given k, X and y.

Its risk is σ² + Σ_k π_k E[tr(Σx P_k)]. The posterior's covariance P_k = (Σ_k⁻¹ + XᵀX/σ²)⁻¹ depends
on neither y nor β, so only X is drawn, and the average varies less than squared errors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..problem.mixture import TaskMixture
from ..problem.streams import Stream, generator
from ..problem.wishart import wishart_factor

PART = 500  # contexts at a time
CONTEXTS = 10_000  # keeps the standard error below 0.1% of the risk in the paper's settings


def bayes_table(mix: TaskMixture, context_lengths: Sequence[int]) -> list[dict[str, Any]]:
    """Risk and standard error at every context length; the same mixture gives the same numbers."""
    rows = []
    for n in context_lengths:
        risks = conditional_risks(mix, n)
        risk, error = risks.mean(), risks.std(ddof=1) / CONTEXTS**0.5
        row = {"setting": mix.name, "n": n, "risk": risk, "risk_se": error}
        power = mix.label_power
        rows.append(row | {"normalized": risk / power, "normalized_se": error / power})
    return rows


def conditional_risks(mix: TaskMixture, n: int) -> np.ndarray:
    """The risk given X, averaged over tasks, for random X; [CONTEXTS]. Double precision is needed:
    with little noise, small singular values are divisors."""
    rng = generator(mix, n, Stream.BAYES)
    factors = wishart_factor(rng, n, mix.dim, CONTEXTS)
    parts = np.array_split(factors, range(PART, CONTEXTS, PART))
    chol_x = np.linalg.cholesky(mix.sigma_x)
    traces = [
        np.concatenate([_posterior_trace(mix, cov, chol_x @ part) for part in parts])
        for cov in mix.covs
    ]
    return mix.noise_var + mix.weights @ np.array(traces)


def _posterior_trace(mix: TaskMixture, cov: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """tr(Σx P) for every XᵀX = RRᵀ.

    With Σ = LLᵀ and singular values LᵀR = U diag(s) Vᵀ it is P = LU diag(σ²/(σ² + s²)) UᵀLᵀ.
    Directions that fewer than d inputs leave unseen keep all their variance, also without noise.
    """
    prior = np.linalg.cholesky(cov)
    basis, singular, _ = np.linalg.svd(prior.T @ factors)
    kept = np.ones(basis.shape[:2])
    kept[:, : singular.shape[1]] = mix.noise_var / (mix.noise_var + singular**2)
    directions = np.linalg.cholesky(mix.sigma_x).T @ prior @ basis
    return (kept * (directions**2).sum(1)).sum(1)
