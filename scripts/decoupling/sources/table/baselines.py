"""Baselines: usual predictors without attention.

`ols` and `ridge` use the context alone; `group_mean` and `pooled` the training units alone; `blup`
uses both.
"""

from __future__ import annotations

import numpy as np

from ...problem.mixture import TaskMixture
from .spec import Fold
from .tokens import Contexts, rows_of

PENALTIES = 10.0 ** np.arange(-3, 4.01, 0.25)  # candidates for λ of ridge regression


def baselines(fold: Fold, n: int, contexts: Contexts) -> dict[str, np.ndarray]:
    """Predictions of every query, by baseline."""
    pooled = _pooled(fold)
    coefficients = {
        "ols": _least_squares(contexts),
        "ridge": _ridge(contexts, [choose_penalty(fold.training_contexts(n))])[0],
        "group_mean": fold.mix.means[contexts.task],
        "pooled": np.broadcast_to(pooled, contexts.query.shape),
        "blup": blup(fold.mix, contexts),
    }
    return {name: (contexts.query * beta).sum(1) for name, beta in coefficients.items()}


def choose_penalty(training: Contexts) -> float:
    """The λ of the least risk on the training units' contexts."""
    fitted = _ridge(training, PENALTIES)
    risks = [(((training.query * beta).sum(1) - training.label) ** 2).mean() for beta in fitted]
    return float(PENALTIES[int(np.argmin(risks))])


def blup(mix: TaskMixture, contexts: Contexts) -> np.ndarray:
    """The posterior mean of β given the group and the context, in the fold's mixture:
    μ_k + (σ²Σ_k⁻¹ + XᵀX)⁻¹Xᵀ(y − Xμ_k)."""
    x, y = contexts.x[:, :-1], contexts.y[:, :-1]
    mean = mix.means[contexts.task]
    prior = mix.noise_var * np.linalg.inv(mix.covs)[contexts.task]
    rest = y - np.einsum("bid,bd->bi", x, mean)
    right = np.einsum("bid,bi->bd", x, rest)
    return mean + np.linalg.solve(prior + x.mT @ x, right[..., None])[..., 0]


def _pooled(fold: Fold) -> np.ndarray:
    """One β for all units and groups, by least squares of all their training rows."""
    gram, cross = 0.0, 0.0
    for unit in fold.training:
        x, y = rows_of(unit, fold.intercept, fold.differences)
        gram, cross = gram + x.T @ x, cross + x.T @ y
    return np.linalg.solve(gram, cross)


def _least_squares(contexts: Contexts) -> np.ndarray:
    """The β of least squares; the shortest if there are several."""
    return (np.linalg.pinv(contexts.x[:, :-1]) @ contexts.y[:, :-1, None])[..., 0]


def _ridge(contexts: Contexts, penalties: np.ndarray | list[float]) -> list[np.ndarray]:
    """(XᵀX + λI)⁻¹Xᵀy for every λ."""
    x = contexts.x[:, :-1]
    values, vectors = np.linalg.eigh(x.mT @ x)
    cross = np.einsum("bdv,bid,bi->bv", vectors, x, contexts.y[:, :-1], optimize=True)
    values = np.maximum(values, 0)
    return [(vectors @ (cross / (values + p))[..., None])[..., 0] for p in penalties]
