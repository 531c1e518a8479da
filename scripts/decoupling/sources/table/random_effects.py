"""The random-effects model of a table's units, by restricted maximum likelihood (REML).

A unit u of group k has y = Xβ_u + ξ with β_u ~ N(μ_k, Σ_k) and ξ ~ N(0, σ²I); σ² is common to all
groups. Estimated by the EM algorithm, whose covariances stay positive definite; a unit may have
fewer rows than coefficients, or features that do not vary in it. It enters only through XᵀX, Xᵀy,
yᵀy and its degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_STEPS = 10_000
TOLERANCE = 1e-5  # largest change of a covariance in a step, over the largest entry of it
FLOOR = 1e-6  # least eigenvalue of a covariance, as a share of the largest


@dataclass(frozen=True, eq=False)
class Sums:
    """What the model sees of the units of a group; units first."""

    gram: np.ndarray  # XᵀX: [units, d, d]
    cross: np.ndarray  # Xᵀy: [units, d]
    power: np.ndarray  # yᵀy: [units]
    freedom: np.ndarray  # rows; one less where their mean was taken out: [units]


@dataclass(frozen=True, eq=False)
class Effects:
    means: np.ndarray  # μ: [K, d]
    covs: np.ndarray  # Σ_k: [K, d, d]
    noise_var: float  # σ²
    steps: int
    converged: bool


def fit(groups: list[Sums]) -> Effects:
    """REML estimates, from the residuals of pooled least squares as the start."""
    dim = groups[0].cross.shape[1]
    rows = sum(group.freedom.sum() for group in groups)
    noise = sum(_residual(group) for group in groups) / rows
    covs = np.array([noise * np.eye(dim) / 2] * len(groups))
    noise /= 2
    steps = 0
    while steps < MOST_STEPS:
        steps += 1
        found = [_expect(group, cov, noise) for group, cov in zip(groups, covs, strict=True)]
        means, new, squares = (np.array(part) for part in zip(*found, strict=True))
        change = np.abs(new - covs).max((1, 2)) / np.abs(new).max((1, 2))
        covs, noise = new, squares.sum() / rows
        if change.max() < TOLERANCE:
            break
    covs = np.array([_definite(cov) for cov in covs])
    return Effects(means, covs, float(noise), steps, bool(change.max() < TOLERANCE))


def _residual(group: Sums) -> float:
    """Of least squares with one β for all units."""
    cross = group.cross.sum(0)
    return float(group.power.sum() - cross @ np.linalg.solve(group.gram.sum(0), cross))


def _expect(group: Sums, cov: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray, float]:
    """A step of EM: μ by generalised least squares; the new Σ; the expected squared residuals.

    With V = XΣXᵀ + σ²I, XᵀV⁻¹X is A = (σ²I + GΣ)⁻¹G and XᵀV⁻¹y is (σ²I + GΣ)⁻¹Xᵀy. Given y and
    μ, β_u − μ has mean ΣXᵀV⁻¹(y − Xμ) and covariance Σ − ΣAΣ; μ itself has covariance
    C = (Σ_u A)⁻¹, which REML adds.
    """
    gram, eye = group.gram, np.eye(len(cov))
    inner = np.linalg.inv(noise * eye + gram @ cov)
    weight = inner @ gram  # A
    label = (inner @ group.cross[..., None])[..., 0]
    error = np.linalg.inv(weight.sum(0))  # C
    mean = error @ label.sum(0)
    effect = (label - weight @ mean) @ cov
    shrunk = weight @ cov  # (ΣA)ᵀ
    own = cov - cov @ shrunk
    spread = own + shrunk.mT @ error @ shrunk
    new = (spread + effect[:, :, None] * effect[:, None]).mean(0)

    beta = mean + effect
    kept = eye - shrunk.mT
    total = own + kept @ error @ kept.mT  # Cov(β_u | y)
    squares = group.power - 2 * (beta * group.cross).sum(1)
    squares = squares + np.einsum("ui,uij,uj->u", beta, gram, beta) + (gram * total).sum((1, 2))
    return mean, (new + new.T) / 2, float(squares.sum())


def _definite(cov: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(cov)
    return (vectors * np.maximum(values, FLOOR * values[-1])) @ vectors.T
