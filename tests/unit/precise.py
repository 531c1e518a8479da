"""The theorems in 50 digits, and the optimum where x is a number; mpmath, written anew."""

from __future__ import annotations

import mpmath as mp
import numpy as np
from decoupling.problem.mixture import TaskMixture

mp.mp.dps = 50


def theorem_risks(mix: TaskMixture, n: int) -> dict[str, mp.mpf]:
    """Theorems 1–4."""
    sx, unit, noise = _exact(mix.sigma_x), mp.eye(mix.dim), mp.mpf(mix.noise_var)
    weights = [mp.mpf(float(weight)) for weight in mix.weights]
    means = [_exact(mean[:, None]) for mean in mix.means]
    cov, outer = mp.zeros(mix.dim), mp.zeros(mix.dim)
    for weight, mean, task_cov in zip(weights, means, mix.covs, strict=True):
        cov, outer = cov + weight * _exact(task_cov), outer + weight * mean * mean.T
    biased = cov + outer
    biased_power, power = _trace(sx * biased) + noise, _trace(sx * cov) + noise

    def risk(spread: mp.matrix, top: mp.mpf, inverse: mp.matrix) -> tuple[mp.mpf, mp.matrix]:
        weight = spread * inverse**-1
        return top - n * _trace(sx * weight * sx * spread), weight

    plain, weight = risk(biased, biased_power, (n + 1) * sx * biased + biased_power * unit)
    rest = n * weight * sx - unit
    joint, _ = risk(cov, power, (n + 1) * sx * cov + biased_power * unit + sx * outer)
    heads, _ = risk(cov, power, (n + 1) * sx * cov + power * unit)
    tuned = plain - _trace(sx * rest * outer * rest.T)
    return {"plain": plain, "finetune": tuned, "joint": joint, "joint_heads": heads}


def scalar_optimum(mix: TaskMixture, n: int, prompts: bool) -> mp.mpf:
    """Attention's best risk for d = 1 and a shared head: a search over the head's angle."""
    grid = [mp.pi * i / 200 for i in range(200)]
    best = min(grid, key=lambda angle: _scalar_risk(mix, n, prompts, angle))

    def derivative(angle: mp.mpf) -> mp.mpf:
        return mp.diff(lambda a: _scalar_risk(mix, n, prompts, a), angle)

    bracket = (best - grid[1], best + grid[1])
    return _scalar_risk(mix, n, prompts, mp.findroot(derivative, bracket, solver="anderson"))


def scalar_energy(mix: TaskMixture, n: int) -> mp.mpf:
    """The best risk of `joint` for d = 1 and the head that takes out the common mean."""
    return _scalar_risk(mix.centred(), n, True, mp.mpf(0))


def _scalar_risk(mix: TaskMixture, n: int, prompts: bool, angle: mp.mpf) -> mp.mpf:
    """σ² + Σx(E[β²] − E[βφ]ᵀE[φφᵀ]⁻¹E[βφ]), φ = Sa; with prompts, of φ and β less their task's
    means. Polynomials of degree 4 in β, for which three Gauss–Hermite nodes are exact."""
    power, noise = mp.mpf(mix.sigma_x.item()), mp.mpf(mix.noise_var)
    head = mp.matrix([mp.sin(angle), mp.cos(angle)])
    square, cross, outer = mp.mpf(0), mp.zeros(2, 1), mp.zeros(2)
    for weight, mean, cov in zip(mix.weights, mix.means, mix.covs, strict=True):
        mu, far = mp.mpf(mean.item()), mp.sqrt(3 * mp.mpf(cov.item()))
        total, first = mp.mpf(float(weight)), mp.zeros(2, 1)
        for share, beta in (
            (mp.mpf(2) / 3, mu),
            (mp.mpf(1) / 6, mu - far),
            (mp.mpf(1) / 6, mu + far),
        ):
            omega = power * mp.matrix([[1, beta], [beta, beta**2 + noise / power]])
            image = omega * head
            mass = total * share
            square += mass * beta**2
            cross += mass * n * beta * image
            outer += mass * (n * (n + 1) * image * image.T + n * (head.T * image)[0] * omega)
            first += share * n * image
        if prompts:
            square -= total * mu**2
            cross -= total * mu * first
            outer -= total * first * first.T
    return noise + power * (square - (cross.T * outer**-1 * cross)[0])


def _exact(array: np.ndarray) -> mp.matrix:
    return mp.matrix(array.tolist())


def _trace(matrix: mp.matrix) -> mp.mpf:
    return mp.fsum(matrix[i, i] for i in range(matrix.rows))
