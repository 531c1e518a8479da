"""The optimum of unconstrained one-layer attention for each arm, found numerically.

Two of the three unknowns are eliminated:
* Prompts. p_k adds r = p_k(p_kᵀa_k) to φ = Sa_k, and r can be any vector with rᵀa_k ≥ 0. The
  best one removes the bias of task k exactly, A₁r = μ_k − A₁E[S]a_k; A₁ has a null vector, along
  which rᵀa_k can be made positive. So with prompts the optimum is that of the centred moments
  (of S − E[S | k] and β − μ_k) without prompts; and fine-tuning costs no search at all (task heads
  on given A₁ are a linear solve). One prompt for all tasks does the same to the mixture as one
  task: S − E[S] and β − μ̄.
* A₁, given the readouts: a linear solve, A₁ = E[βφᵀ]E[φφᵀ]⁻¹.
That leaves the readouts a_k = Wv h_k, minimised by L-BFGS from several starts, the closed forms'
among them, so that the result lies at or below the theorems (except for fine-tuning, which starts
from other weights). The problem is not convex: this is the best minimum found, without a proof that
it is the least. The risk is exact in either case.
"""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..problem.gaussian_moments import GaussianMoments, population_moments
from ..problem.mixture import TaskMixture
from ..problem.one_layer import OneLayer
from ..problem.scaling import Scaling

RANDOM_STARTS = 8


class Unknowns(NamedTuple):
    """The unknowns of the minimisation; weights that are not among them are those of `plain`."""

    weights: bool
    prompts: Literal["none", "one", "own"]  # one for all tasks, or one per task
    heads: bool


# Repeated from models/arms.py: an import would recompute all theory when a colour changes.
OPTIMUM_ARMS = {
    "plain": Unknowns(weights=True, prompts="none", heads=False),
    "shared": Unknowns(weights=True, prompts="one", heads=False),
    "finetune": Unknowns(weights=False, prompts="own", heads=False),
    "joint": Unknowns(weights=True, prompts="own", heads=False),
    "heads": Unknowns(weights=True, prompts="none", heads=True),
    "joint_heads": Unknowns(weights=True, prompts="own", heads=True),
    "finetune_heads": Unknowns(weights=False, prompts="own", heads=True),
    "finetune_only_heads": Unknowns(weights=False, prompts="none", heads=True),
}


def optima(mix: TaskMixture, n: int) -> dict[str, float]:
    """The least risk found for every arm; fine-tuning starts from the best `plain`.

    The search is in standard units, so that its starts and tolerances suit any data.
    """
    scaling = Scaling.of(mix, n)
    mix = scaling.standardised(mix)
    moments = population_moments(mix, n, 1 / n)
    left = {"none": moments, "one": moments.centred_together(), "own": moments.centred()}
    best = {}
    for arm, unknowns in OPTIMUM_ARMS.items():
        seen = left[unknowns.prompts]
        if unknowns.weights:
            found = [_descend(seen, readouts) for readouts in _starts(mix, unknowns.heads)]
            best[arm] = min(found, key=itemgetter(0))
        else:
            tuned = best["plain"][1]
            if unknowns.heads:
                tuned = replace(tuned, readouts=seen.best_readouts(tuned.scores))
            best[arm] = seen.risk(tuned).item(), tuned
    return {arm: scaling.label**2 * value for arm, (value, _) in best.items()}


def _starts(mix: TaskMixture, task_heads: bool) -> list[np.ndarray]:
    """Readouts [−shift; 1] that leave the means, remove them, or remove their average; and random
    ones. [K, 1, D] or, shared by all tasks, [1, 1, D]."""
    shared = mix.weights @ mix.means
    shifts = [0 * mix.means, mix.means, np.broadcast_to(shared, mix.means.shape)]
    found = [np.pad(-s, ((0, 0), (0, 1)), constant_values=1.0) for s in shifts]
    rng = np.random.default_rng(0)
    size = (mix.tasks, mix.dim + 1)
    found += [rng.standard_normal(size) for _ in range(RANDOM_STARTS)]
    return [a[:, None] if task_heads else a.mean(0)[None, None] for a in found]


def _descend(moments: GaussianMoments, start: np.ndarray) -> tuple[float, OneLayer]:
    """Minimise over the readouts with the best A₁ for each; by the envelope theorem A₁'s own change
    does not enter the gradient. Risks are in units of the start's, which can be far below E[y²]."""

    def model(unknowns: np.ndarray) -> OneLayer:
        readouts = unknowns.reshape(start.shape)
        found = moments.features(readouts, None)
        return OneLayer(np.linalg.solve(found.outer, found.beta.mT).mT, readouts, None)

    unit = moments.risk(model(start)).item()

    def objective(unknowns: np.ndarray) -> tuple[float, np.ndarray]:
        value, grad = moments.risk_and_gradient(model(unknowns))
        return value.item() / unit, grad.readouts.ravel() / unit

    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 30}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return unit * float(found.fun), model(found.x)
