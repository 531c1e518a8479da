"""The value of knowing the task: known, inferred from the context, or wrong.

Given X, a sufficient statistic for (β, k) is R and t, where XᵀX = RRᵀ, R has r = min(n, d)
columns, Xᵀy = Rt, and t | β ~ N(Rᵀβ, σ²I). So t | k ~ N(Rᵀμ_k, RᵀΣ_kR + σ²I), which gives the
posterior of k, and β | t, k is Gaussian with mean m_k and covariance P_k. σ² = 0 is no special
case.

R is drawn by Bartlett's decomposition, so that the cost does not depend on n. A predictor is a
vector u, ŷ = xᵀu; its risk given the context, Σ_k P(k | context)[(u − m_k)ᵀΣx(u − m_k) + tr(ΣxP_k)]
+ σ², is averaged over contexts: β and k are integrated out.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem.mixture import TaskMixture
from ..problem.streams import Stream, generator
from ..problem.wishart import wishart_factor
from .theorems import CLOSED_FORMS, Solution

log = logging.getLogger(__name__)

CONTEXTS = 20_000
# Closed forms that attention reaches, without Assumption 1 where that lowers the risk.
UNTOLD = {"plain": CLOSED_FORMS["theorem"]["plain"], "shared": CLOSED_FORMS["centred"]["shared"]}
TOLD = {  # arms that need the task
    "joint": CLOSED_FORMS["centred"]["joint"],
    "joint_heads": CLOSED_FORMS["theorem"]["joint_heads"],
}


@dataclass(frozen=True, eq=False)
class Contexts:
    """C random contexts, and the posterior of the task given each."""

    gram: np.ndarray  # XᵀX: [C, d, d]
    cross: np.ndarray  # Xᵀy: [C, d]
    task: np.ndarray  # P(k | context): [C, K]
    mean: np.ndarray  # m_k: [C, K, d]
    spread: np.ndarray  # tr(ΣxP_k): [C, K]


def draw_contexts(mix: TaskMixture, n: int, count: int = CONTEXTS) -> Contexts:
    rng = generator(mix, n, Stream.IDENTITY)
    factor = wishart_factor(rng, n, mix.dim, count)
    root = np.linalg.cholesky(mix.sigma_x) @ factor  # R: [C, d, r]
    k = rng.choice(mix.tasks, count, p=mix.weights)
    normals = rng.standard_normal((count, mix.dim, 1))
    beta = mix.means[k] + (np.linalg.cholesky(mix.covs)[k] @ normals)[..., 0]
    noise = mix.noise_var**0.5 * rng.standard_normal((count, root.shape[2]))
    return observe(mix, root, (beta[:, None] @ root)[:, 0] + noise)


def observe(mix: TaskMixture, root: np.ndarray, seen: np.ndarray) -> Contexts:
    """Contexts from R, [C, d, r], and t, [C, r]."""
    fits = [_posterior(mix, k, root, seen) for k in range(mix.tasks)]
    likelihood, mean, spread = (np.stack(part, axis=1) for part in zip(*fits, strict=True))
    weight = np.log(mix.weights) + likelihood
    task = np.exp(weight - weight.max(1, keepdims=True))
    gram, cross = root @ root.mT, (root @ seen[..., None])[..., 0]
    return Contexts(gram, cross, task / task.sum(1, keepdims=True), mean, spread)


def _posterior(
    mix: TaskMixture, k: int, root: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log p(t | k) up to a constant, m_k and tr(ΣxP_k), for every context."""
    mean, cov = mix.means[k], mix.covs[k]
    gain = cov @ root  # Cov(β, t)
    total = root.mT @ gain + mix.noise_var * np.eye(root.shape[2])  # Cov(t)
    surprise = seen - mean @ root
    weighed = np.linalg.solve(total, np.concatenate([surprise[..., None], gain.mT], axis=2))
    quadratic = (surprise * weighed[..., 0]).sum(1)
    likelihood = -0.5 * (quadratic + np.linalg.slogdet(total)[1])
    posterior_mean = mean + (gain @ weighed[..., :1])[..., 0]
    posterior_cov = cov - gain @ weighed[..., 1:]
    spread = np.einsum("ij,cji->c", mix.sigma_x, posterior_cov)
    return likelihood, posterior_mean, np.maximum(spread, 0)  # rounding can leave −1e-15


def identity_table(mix: TaskMixture, context_lengths: Sequence[int]) -> list[dict[str, Any]]:
    """A row per n, arm and value of `told`; `wrong` is the probability that the likeliest task is
    not the right one.

    A closed form gives the risk without an error, for the right task. For other values of `told`,
    the difference from it is averaged over the same contexts."""
    rows = []
    for n in context_lengths:
        log.info("%s: told, inferred and wrong tasks at n = %d", mix.name, n)
        contexts = draw_contexts(mix, n)
        wrong = 1 - contexts.task.max(1)
        given = conditional_risks(mix, n, contexts)
        for (arm, told), risks in given.items():
            base = "nothing" if arm in UNTOLD else "right"
            form = {**UNTOLD, **TOLD}.get(arm)
            known = 0.0 if form is None else form(mix, n).risk
            gap, error = _average(risks if form is None else risks - given[arm, base])
            power = mix.label_power
            risk = float(known + gap)
            row = {"setting": mix.name, "n": n, "arm": arm, "told": told}
            row |= {"risk": risk, "risk_se": error}
            row |= {"normalized": risk / power, "normalized_se": error / power}
            rows.append(row | dict(zip(("wrong", "wrong_se"), _average(wrong), strict=True)))
    return rows


def _average(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)


def conditional_risks(
    mix: TaskMixture, n: int, contexts: Contexts
) -> dict[tuple[str, str], np.ndarray]:
    """The risk given every context, [C], by arm and the task that it is given: `right`, `soft`
    (predictions weighted by the posterior), `map` (the likeliest task), `wrong` (another task, by
    the others' weights), or `nothing` for arms that do not use the task."""
    found = {}
    for arm, form in UNTOLD.items():
        vectors = predictors(form(mix, n), contexts)[:, :1]
        found[arm, "nothing"] = _risk(mix, contexts, vectors)
    candidates = {arm: predictors(form(mix, n), contexts) for arm, form in TOLD.items()}
    for arm, vectors in {**candidates, "bayes": contexts.mean}.items():
        found[arm, "right"] = _risk(mix, contexts, vectors)
        soft = np.einsum("ck,ckd->cd", contexts.task, vectors)
        found[arm, "soft"] = _risk(mix, contexts, soft[:, None])
        likeliest = contexts.task.argmax(1)[:, None, None]
        found[arm, "map"] = _risk(mix, contexts, np.take_along_axis(vectors, likeliest, 1))
        if mix.tasks > 1:
            found[arm, "wrong"] = _wrong_risk(mix, contexts, vectors)
    return found


def predictors(solution: Solution, contexts: Contexts) -> np.ndarray:
    """u_k = W(Xᵀy − XᵀX s_k + p̄_k(p_kᵀa_k)) with each task's readout a_k = [−s_k; 1] and
    prompt: [C, K, d]."""
    shift = -solution.readouts[:, :-1]
    features = contexts.cross[:, None] - shift @ contexts.gram
    if solution.prompts is not None:
        overlap = (solution.prompts * solution.readouts).sum(1, keepdims=True)
        features = features + overlap * solution.prompts[:, :-1]
    return features @ solution.weight.T


def _errors(mix: TaskMixture, contexts: Contexts, vectors: np.ndarray) -> np.ndarray:
    """(u − m_k)ᵀΣx(u − m_k) + tr(ΣxP_k) + σ² for every k: [C, K]; `vectors` has one u or one for
    each task."""
    gap = vectors - contexts.mean
    return ((gap @ mix.sigma_x) * gap).sum(2) + contexts.spread + mix.noise_var


def _risk(mix: TaskMixture, contexts: Contexts, vectors: np.ndarray) -> np.ndarray:
    return (contexts.task * _errors(mix, contexts, vectors)).sum(1)


def _wrong_risk(mix: TaskMixture, contexts: Contexts, vectors: np.ndarray) -> np.ndarray:
    """The risk if another task j ≠ k is told, with probability π_j / (1 − π_k)."""
    total = np.zeros(len(vectors))
    for j, weight in enumerate(mix.weights):
        share = weight / (1 - mix.weights)
        share[j] = 0
        errors = _errors(mix, contexts, vectors[:, j : j + 1])
        total += (contexts.task * share * errors).sum(1)
    return total
