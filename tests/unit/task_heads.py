"""The risk of task heads: Theorem 4 is not a lower bound, and another bound is.

Let A₁ = [B w], a_k = [v_k; u_k] and y₀ = y − Xμ_k. The prediction for task k is xᵀ(W_k Xᵀy₀ + e_k)
with W_k = wv_kᵀ + u_k(B + 2wμ_kᵀ), where e_k is even in (β − μ_k, noise). Its error's other part,
xᵀW_k Xᵀy₀ − y₀, is odd in them, so that their product has mean 0, and the task's risk is at least
    f_k(W_k) = t_k − 2n tr(ΣxW_kΣxΣ_k) + n tr(ΣxW_k(t_kΣx + (n+1)ΣxΣ_kΣx)W_kᵀ),
t_k = tr(ΣxΣ_k) + σ². This is what the paper's proof of Proposition 1 shows, before it drops the
index of W_k. With heads u_k[−μ_k; 1], the right prompts and w = 0 the risk is f_k(u_kB).

* Where all W_k are the same W, the risk is at least the minimum of Σ_k π_k f_k(W), Theorem 4.
* For any parameters it is at least Σ_k π_k min f_k, which is Theorem 4 of every task alone,
  averaged: `bound`. The minimiser of f_k has the inverse (n+1)Σx + t_kΣ_k⁻¹.
* So Theorem 4 is the optimum if all Σ_k/t_k are equal: if the Σ_k are equal, or multiples of one
  matrix and σ = 0. Else it is above `bound`, and in general heads go below it: u_k can rescale B
  for each task (`rescaled`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.theorems import Solution, joint_heads

ROUNDS = 100  # of the best B given u_k, then the best u_k given B; each lowers the risk


def bound(mix: TaskMixture, n: int) -> float:
    """No task heads have a lower risk."""
    alone = [
        replace(mix, weights=np.ones(1), means=mean[None], covs=cov[None])
        for mean, cov in zip(mix.means, mix.covs, strict=True)
    ]
    return float(mix.weights @ [joint_heads(task, n).risk for task in alone])


def rescaled(mix: TaskMixture, n: int) -> Solution:
    """The best B and u_k, found in turn, of heads u_k[−μ_k; 1]. The prompts
    p_k = [B⁻¹μ_k; μ_kᵀB⁻¹μ_k + 1/u_k] have p_kᵀa_k = 1 and put μ_k back."""
    scales = np.ones(mix.tasks)
    for _ in range(ROUNDS):
        weight = _best_weight(mix, n, scales)
        scales = _best_scales(mix, n, weight)
    top = np.linalg.solve(weight, mix.means.T).T
    last = np.einsum("ki,ki->k", mix.means, top) + 1 / scales
    readouts = scales[:, None] * np.hstack([-mix.means, np.ones((mix.tasks, 1))])
    gain = n * scales * np.einsum("ij,kji->k", mix.sigma_x @ weight @ mix.sigma_x, mix.covs)
    risk = mix.weights @ (_powers(mix) - gain)
    return Solution(float(risk), weight, np.hstack([top, last[:, None]]), readouts)


def _powers(mix: TaskMixture) -> np.ndarray:
    """t_k."""
    return np.einsum("ij,kji->k", mix.sigma_x, mix.covs) + mix.noise_var


def _best_weight(mix: TaskMixture, n: int, scales: np.ndarray) -> np.ndarray:
    """B = C((n+1)ΣxD + tI)⁻¹ with C = Σ π_ku_kΣ_k, D = Σ π_ku_k²Σ_k and t = Σ π_ku_k²t_k."""
    first, second = mix.weights * scales, mix.weights * scales**2
    inverse = (n + 1) * mix.sigma_x @ np.tensordot(second, mix.covs, 1)
    inverse += second @ _powers(mix) * np.eye(mix.dim)
    return np.linalg.solve(inverse.T, np.tensordot(first, mix.covs, 1).T).T


def _best_scales(mix: TaskMixture, n: int, weight: np.ndarray) -> np.ndarray:
    """u_k = tr(ΣxBΣxΣ_k) / tr(ΣxB(t_kΣx + (n+1)ΣxΣ_kΣx)Bᵀ)."""
    sx, left = mix.sigma_x, mix.sigma_x @ weight
    seen = _powers(mix)[:, None, None] * sx + (n + 1) * sx @ mix.covs @ sx
    gain = np.einsum("ij,kji->k", left @ sx, mix.covs)
    return gain / np.einsum("ij,kjl,il->k", left, seen, weight)
