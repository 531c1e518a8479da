"""The random-effects model of a table's units, by restricted maximum likelihood (REML).

A unit u of group k has y = Xβ_u + ξ with β_u ~ N(μ_k, Σ_k) and ξ ~ N(0, σ²I); σ² is common to all
groups. Estimated by the EM algorithm, whose covariances stay positive definite, with leaps between
its steps; a unit may have fewer rows than coefficients, or features that do not vary in it. It
enters only through XᵀX, Xᵀy, yᵀy and its degrees of freedom. A unit of weight w counts as w units
that are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_STEPS = 2_000
TOLERANCE = 1e-6  # largest change of a covariance in a step of EM, over the largest entry of it
FLOOR = 1e-6  # least eigenvalue of a covariance, as a share of the largest


@dataclass(frozen=True, eq=False)
class Sums:
    """What the model sees of the units of a group; units first."""

    gram: np.ndarray  # XᵀX: [units, d, d]
    cross: np.ndarray  # Xᵀy: [units, d]
    power: np.ndarray  # yᵀy: [units]
    freedom: np.ndarray  # rows; one less where their mean was taken out: [units]
    weight: np.ndarray  # [units]


@dataclass(frozen=True, eq=False)
class Effects:
    means: np.ndarray  # μ: [K, d]
    covs: np.ndarray  # Σ_k: [K, d, d]
    noise_var: float  # σ²
    steps: int
    converged: bool


def fit(
    groups: Sequence[Sums], start: Effects | None = None, tolerance: float = TOLERANCE
) -> Effects:
    """REML estimates; without a start, from the residuals of pooled least squares."""
    rows = sum(group.weight @ group.freedom for group in groups)

    def step(covs: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray, float]:
        found = [_expect(group, cov, noise) for group, cov in zip(groups, covs, strict=True)]
        means, covs, squares = (np.array(part) for part in zip(*found, strict=True))
        return means, covs, squares.sum() / rows

    covs, noise = _start(groups, rows) if start is None else (start.covs, start.noise_var)
    steps, change = 0, np.array([np.inf])
    while steps < MOST_STEPS:
        steps += 1
        _, first, noise_first = step(covs, noise)
        means, second, noise_second = step(first, noise_first)
        change = np.abs(first - covs).max((1, 2)) / np.abs(first).max((1, 2))
        if change.max() < tolerance:
            break
        covs, noise = _leap((covs, noise), (first, noise_first), (second, noise_second))
    covs = np.array([_definite(cov) for cov in second])
    return Effects(means, covs, float(noise_second), steps, bool(change.max() < tolerance))


def _start(groups: Sequence[Sums], rows: float) -> tuple[np.ndarray, float]:
    noise = sum(_residual(group) for group in groups) / rows / 2
    return np.array([noise * np.eye(group.cross.shape[1]) for group in groups]), noise


def _leap(*points: tuple[np.ndarray, float]) -> tuple[np.ndarray, float]:
    """How far two steps of EM point to (SQUAREM, Varadhan and Roland 2008, scheme S3); less far
    where a covariance or σ² would not be positive."""
    start, first, second = (np.append(covs.ravel(), noise) for covs, noise in points)
    step, bend = first - start, second - 2 * first + start
    length = max(1.0, float(np.linalg.norm(step) / (np.linalg.norm(bend) or 1.0)))
    while length > 1:
        made = start + 2 * length * step + length**2 * bend
        covs, noise = made[:-1].reshape(points[0][0].shape), float(made[-1])
        if noise > 0 and np.linalg.eigvalsh(covs).min() > 0:
            return covs, noise
        length = (length + 1) / 2 if length > 1.1 else 1.0
    return points[2]


def _residual(group: Sums) -> float:
    """Of least squares with one β for all units."""
    cross, gram = group.weight @ group.cross, np.tensordot(group.weight, group.gram, 1)
    return float(group.weight @ group.power - cross @ np.linalg.solve(gram, cross))


def _expect(group: Sums, cov: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray, float]:
    """A step of EM: μ by generalised least squares; the new Σ; the expected squared residuals.

    With V = XΣXᵀ + σ²I, XᵀV⁻¹X is A = (σ²I + GΣ)⁻¹G and XᵀV⁻¹y is (σ²I + GΣ)⁻¹Xᵀy. Given y and
    μ, β_u − μ has mean ΣXᵀV⁻¹(y − Xμ) and covariance Σ − ΣAΣ; μ itself has covariance
    C = (Σ_u A)⁻¹, which REML adds.
    """
    gram, eye = group.gram, np.eye(len(cov))
    inner = np.linalg.inv(noise * eye + gram @ cov)
    information = inner @ gram  # A
    label = (inner @ group.cross[..., None])[..., 0]
    error = np.linalg.inv(np.tensordot(group.weight, information, 1))  # C
    mean = error @ (group.weight @ label)
    effect = (label - information @ mean) @ cov
    shrunk = information @ cov  # (ΣA)ᵀ
    own = cov - cov @ shrunk
    spread = own + shrunk.mT @ error @ shrunk + effect[:, :, None] * effect[:, None]
    new = np.tensordot(group.weight, spread, 1) / group.weight.sum()

    beta = mean + effect
    kept = eye - shrunk.mT
    total = own + kept @ error @ kept.mT  # Cov(β_u | y)
    squares = group.power - 2 * (beta * group.cross).sum(1)
    squares = squares + np.einsum("ui,uij,uj->u", beta, gram, beta) + (gram * total).sum((1, 2))
    return mean, (new + new.T) / 2, float(group.weight @ squares)


def _definite(cov: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(cov)
    return (vectors * np.maximum(values, FLOOR * values[-1])) @ vectors.T
