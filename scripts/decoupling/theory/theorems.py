"""Theorems 1–4 and what follows from them: the best risk of each arm in closed form, and parameters
that reach it.

For any Σx ≻ 0 and σ² ≥ 0. Notation: S̃ biased, S̄ debiased covariance, M = S̃ − S̄,
t̃ = tr(Σx S̃) + σ² = E[y²] and t̄ = tr(Σx S̄) + σ².

Where this differs from the paper's text:
* Theorem 2 prints tr(ΣxM(nW̄−I)ᵀ(nW̄−I)), which is right if Σx commutes with S̃; `finetune` uses the
  general form.
* Theorem 3 prints the matrix of prompts without a transpose of W̄⁻¹Σx = W⁻¹, and then they are not
  optimal where W is not symmetric: for Σx = I, where S̄ and M do not commute.
* Theorem 4 in the appendix misses the σ² in the risk. It is called a lower bound, which holds for
  some heads only (docs/errata.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..problem.mixture import TaskMixture
from .label_energy import joint_energy, shared_energy
from .solution import Solution


def plain(mix: TaskMixture, n: int) -> Solution:
    """Theorem 1: W = S̃((n+1)ΣxS̃ + t̃I)⁻¹."""
    cov, sx = mix.biased_cov, mix.sigma_x
    weight = _preconditioner(cov, (n + 1) * sx @ cov + mix.label_power * np.eye(mix.dim))
    risk = mix.label_power - n * np.trace(sx @ weight @ sx @ cov)
    return Solution(risk, weight, None, _label_readouts(mix))


def finetune(mix: TaskMixture, n: int) -> Solution:
    """Theorem 2: the best prompts on Theorem 1's W; gain tr(Σx R M Rᵀ) with R = nWΣx − I."""
    base = plain(mix, n)
    rest = n * base.weight @ mix.sigma_x - np.eye(mix.dim)
    risk = base.risk - np.trace(mix.sigma_x @ rest @ mix.mean_outer @ rest.T)
    return Solution(risk, base.weight, _mean_prompts(mix, n, base.weight), base.readouts)


def joint(mix: TaskMixture, n: int) -> Solution:
    """Theorem 3: W = S̄((n+1)ΣxS̄ + t̃I + ΣxM)⁻¹."""
    cov, sx = mix.debiased_cov, mix.sigma_x
    weight = _preconditioner(
        cov,
        (n + 1) * sx @ cov + mix.label_power * np.eye(mix.dim) + sx @ mix.mean_outer,
    )
    risk = _debiased_risk(mix, n, weight)
    return Solution(risk, weight, _mean_prompts(mix, n, weight), _label_readouts(mix))


def joint_heads(mix: TaskMixture, n: int) -> Solution:
    """Theorem 4 and Proposition 1: W = S̄((n+1)ΣxS̄ + t̄I)⁻¹, a_k = [−μ_k; 1],
    p_k = [W⁻¹μ_k; μ_kᵀW⁻¹μ_k + 1]. The least risk with one matrix for all tasks; heads
    can have less."""
    cov, sx = mix.debiased_cov, mix.sigma_x
    power = np.trace(sx @ cov) + mix.noise_var
    weight = _preconditioner(cov, (n + 1) * sx @ cov + power * np.eye(mix.dim))
    readouts = np.hstack([-mix.means, np.ones((mix.tasks, 1))])
    top = np.linalg.solve(weight, mix.means.T).T
    last = np.einsum("ki,ki->k", mix.means, top) + 1
    prompts = np.hstack([top, last[:, None]])
    return Solution(_debiased_risk(mix, n, weight), weight, prompts, readouts)


def shared(mix: TaskMixture, n: int) -> Solution:
    """One prompt for all tasks: Theorem 3 of the mixture as one task N(μ̄, S̄ + M_c), where
    M_c = Σ_k π_k (μ_k − μ̄)(μ_k − μ̄)ᵀ. Under Assumption 1 the risk depends on β only through its
    first two moments, which are the merged task's."""
    return _for_all_tasks(joint(mix.merged(), n), mix)


def joint_centred(mix: TaskMixture, n: int) -> Solution:
    """Theorem 3 of the mixture with μ_k − μ̄ for μ_k; attention reaches it without Assumption 1.

    The readout a = [−s; 1], shared by all tasks, subtracts xᵀs from every label of the context, so
    that attention sees the mixture with means μ_k − s; the prompts put s back (`_put_back`). That
    holds for every s. The best one: with unbiased prompts the risk is the least over W of a form in
    which the means are only noise, n·W(tr(ΣxM)Σx + ΣxMΣx)Wᵀ; it grows with M, and
    M(s) = M_c + (μ̄ − s)(μ̄ − s)ᵀ is least at s = μ̄.
    """
    return _put_back(joint(mix.centred(), n), mix)


def shared_centred(mix: TaskMixture, n: int) -> Solution:
    """The same with one prompt for all tasks: the centred mixture has no common mean to learn, so
    this is its Theorem 1, and the prompt only puts μ̄ back."""
    return _put_back(plain(mix.centred(), n), mix)


Form = Callable[[TaskMixture, int], Solution]
THEOREMS: dict[str, Form] = {  # of the paper, each arm training more than the one before
    "plain": plain,
    "finetune": finetune,
    "joint": joint,
    "joint_heads": joint_heads,
}
CLOSED_FORMS: dict[str, dict[str, Form]] = {  # by reference and arm
    "theorem": {**THEOREMS, "shared": shared},
    "centred": {"joint": joint_centred, "shared": shared_centred},
    "energy": {"joint": joint_energy, "shared": shared_energy},
}


def _preconditioner(cov: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """cov · inverse⁻¹."""
    return np.linalg.solve(inverse.T, cov.T).T


def _debiased_risk(mix: TaskMixture, n: int, weight: np.ndarray) -> float:
    """t̄ − n tr(ΣxWΣxS̄)."""
    sx, cov = mix.sigma_x, mix.debiased_cov
    return float(np.trace(sx @ cov) + mix.noise_var - n * np.trace(sx @ weight @ sx @ cov))


def _mean_prompts(mix: TaskMixture, n: int, weight: np.ndarray) -> np.ndarray:
    """p_k = [(W⁻¹ − nΣx)μ_k; 1], which makes E[ŷ | x, k] = xᵀμ_k."""
    top = np.linalg.solve(weight, mix.means.T).T - n * mix.means @ mix.sigma_x
    return np.hstack([top, np.ones((mix.tasks, 1))])


def _for_all_tasks(merged: Solution, mix: TaskMixture) -> Solution:
    """A merged task's solution, with its prompt for every task."""
    prompts = np.broadcast_to(merged.prompts, (mix.tasks, mix.dim + 1))
    return replace(merged, prompts=prompts, readouts=_label_readouts(mix))


def _put_back(centred: Solution, mix: TaskMixture) -> Solution:
    """A solution for μ_k − s, s = μ̄, made one for μ_k: a = [−s; 1], and p with pᵀa = 1 whose upper
    part has W⁻¹s more, which adds xᵀs to the prediction."""
    top = np.zeros_like(mix.means) if centred.prompts is None else centred.prompts[:, :-1]
    top = top + np.linalg.solve(centred.weight, mix.common_mean)
    last = 1 + top @ mix.common_mean
    readouts = np.tile(np.append(-mix.common_mean, 1.0), (mix.tasks, 1))
    prompts = np.hstack([top, last[:, None]])
    return replace(centred, prompts=prompts, readouts=readouts)


def _label_readouts(mix: TaskMixture) -> np.ndarray:
    """a = e_D for every task: values carry the context's labels."""
    readouts = np.zeros((mix.tasks, mix.dim + 1))
    readouts[:, -1] = 1
    return readouts
