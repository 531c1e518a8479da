"""Theorems 1–4 and `shared` for any x: Gaussian or not, rows of a context independent or not.

Under Assumption 1, ŷ = x_qᵀ(Wg + v_k) with g = Σ_i x_i y_i; v_k = Wp_k can be any vector. Given β
with second moment S, E[gᵢgⱼ | X] = CSC + σ²C with C = Σ_i x_i x_iᵀ, so that the risk is a quadratic
form of W and v_k whose coefficients are moments of x (`problem.feature_moments`), and its minimum
solves a linear system. With independent Gaussian rows these are the theorems of `theory.theorems`.
Measured moments are averages of different terms, so that a risk can come out below σ²; then it is
set to σ².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..problem.feature_moments import FeatureMoments
from ..problem.mixture import TaskMixture


@dataclass(frozen=True, eq=False)
class GeneralSolution:
    """ŷ = x_qᵀ(Wg + v_k) reaches the risk; for `joint_heads`, g has y_i − x_iᵀμ_k for y_i."""

    risk: float
    weight: np.ndarray  # W: [d, d]
    shifts: np.ndarray  # v_k: [K, d]


@dataclass(frozen=True, eq=False)
class _Form:
    """Risk = power − 2⟨linear, w⟩ + ⟨w, Hw⟩ over the entries w of W; and terms of prompts."""

    power: float  # E[y²]
    linear: np.ndarray  # E[y x_q ⊗ g]: [d²]
    square: np.ndarray  # H = E[x_q x_qᵀ ⊗ ggᵀ]: [d², d²]
    sigma_x: np.ndarray
    rows: np.ndarray  # E[x_q x_qᵀ ⊗ C]: [d] * 4

    def bias(self, mean: np.ndarray) -> np.ndarray:
        """E[x_q ŷ | k] = W ↦ E[x_q x_qᵀWC]μ_k, as a matrix on w: [d, d²]."""
        dim = len(mean)
        return np.einsum("acbe,e->cab", self.rows, mean).reshape(dim, dim * dim)


def _form(second: np.ndarray, noise: float, moments: FeatureMoments, n: int) -> _Form:
    """The form for β with this second moment."""
    dim = len(second)
    inner = n * np.einsum("acbfge,fg->abce", moments.query_fourth, second)
    inner += n * (n - 1) * np.einsum("acbfge,fg->abce", moments.query_pair, second)
    inner += n * noise * moments.pair.transpose(0, 2, 1, 3)
    linear = n * np.einsum("afgb,fg->ab", moments.pair, second)
    power = float(np.trace(moments.sigma_x @ second)) + noise
    square = inner.reshape(dim * dim, dim * dim)
    return _Form(power, linear.ravel(), square, moments.sigma_x, n * moments.pair)


def _at_least_noise(risk: float, mix: TaskMixture) -> float:
    return max(float(risk), mix.noise_var)


def plain(mix: TaskMixture, moments: FeatureMoments, n: int) -> GeneralSolution:
    """Theorem 1."""
    form = _form(mix.biased_cov, mix.noise_var, moments, n)
    weight = np.linalg.solve(form.square, form.linear)
    risk = _at_least_noise(form.power - form.linear @ weight, mix)
    return GeneralSolution(risk, weight.reshape(mix.dim, -1), np.zeros_like(mix.means))


def finetune(mix: TaskMixture, moments: FeatureMoments, n: int) -> GeneralSolution:
    """Theorem 2: the best v_k on Theorem 1's W removes E[x_q(y − ŷ) | k]."""
    base = plain(mix, moments, n)
    form = _form(mix.biased_cov, mix.noise_var, moments, n)
    left = [moments.sigma_x @ mean - form.bias(mean) @ base.weight.ravel() for mean in mix.means]
    shifts = np.linalg.solve(moments.sigma_x, np.array(left).T).T
    gain = mix.weights @ (shifts * left).sum(1)
    return GeneralSolution(_at_least_noise(base.risk - gain, mix), base.weight, shifts)


def joint(mix: TaskMixture, moments: FeatureMoments, n: int) -> GeneralSolution:
    """Theorem 3: W and v_k together; v_k is eliminated first."""
    form = _form(mix.biased_cov, mix.noise_var, moments, n)
    square, linear, power = form.square, form.linear, form.power
    for weight, mean in zip(mix.weights, mix.means, strict=True):
        bias = form.bias(mean)
        square = square - weight * bias.T @ np.linalg.solve(moments.sigma_x, bias)
        linear = linear - weight * bias.T @ mean
        power = power - weight * mean @ moments.sigma_x @ mean
    found = np.linalg.solve(square, linear)
    biases = np.array([form.bias(mean) @ found for mean in mix.means])
    shifts = mix.means - np.linalg.solve(moments.sigma_x, biases.T).T
    risk = _at_least_noise(power - linear @ found, mix)
    return GeneralSolution(risk, found.reshape(mix.dim, -1), shifts)


def joint_heads(mix: TaskMixture, moments: FeatureMoments, n: int) -> GeneralSolution:
    """Theorem 4: a head subtracts μ_k from the context's labels, and the prompt adds it again. W is
    the same for all tasks."""
    form = _form(mix.debiased_cov, mix.noise_var, moments, n)
    weight = np.linalg.solve(form.square, form.linear)
    risk = _at_least_noise(form.power - form.linear @ weight, mix)
    return GeneralSolution(risk, weight.reshape(mix.dim, -1), mix.means)


def shared(mix: TaskMixture, moments: FeatureMoments, n: int) -> GeneralSolution:
    """One prompt for all tasks: Theorem 3 of the mixture as one task."""
    found = joint(mix.merged(), moments, n)
    shifts = np.broadcast_to(found.shifts, mix.means.shape)
    return GeneralSolution(found.risk, found.weight, shifts)


GENERAL_X: dict[str, Callable[[TaskMixture, FeatureMoments, int], GeneralSolution]] = {
    "plain": plain,
    "shared": shared,
    "finetune": finetune,
    "joint": joint,
    "joint_heads": joint_heads,
}
