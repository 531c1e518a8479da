"""The random-effects model of a table's units, by restricted maximum likelihood (REML).

A unit u of group k has y = Xβ_u + ξ with β_u ~ N(μ_k, Σ_k) and ξ ~ N(0, σ²I); σ² is common to all
groups. Estimated by the EM algorithm, whose covariances stay positive definite, with leaps between
its steps; a unit may have fewer rows than coefficients, or features that do not vary in it. Units
enter only through XᵀX, Xᵀy, yᵀy and their degrees of freedom. A unit of weight w counts as w
identical units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_STEPS = 2_000
TOLERANCE = 1e-6  # largest change of a covariance in a step of EM, over its largest entry
FURTHEST = 1e6  # steps of EM that a leap may span
TINY = np.finfo(float).tiny
FLOOR = 1e-6  # least eigenvalue of a covariance over the largest; least σ² over the mean of y²


@dataclass(frozen=True, eq=False)
class Sums:
    """Sufficient statistics of the units of a group; units first."""

    gram: np.ndarray  # XᵀX: [units, d, d]
    cross: np.ndarray  # Xᵀy: [units, d]
    power: np.ndarray  # yᵀy: [units]
    freedom: np.ndarray  # rows; one less if their mean was subtracted: [units]
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
    point = _start(groups) if start is None else _Point(start.covs, start.noise_var)
    here, steps = _step(groups, point), 0
    while steps < MOST_STEPS:
        steps += 1
        change = np.abs(here.next.covs - point.covs).max((1, 2))
        converged = bool((change < tolerance * np.abs(here.next.covs).max((1, 2))).all())
        if converged:
            break
        second = _step(groups, here.next).next
        leap = _leap(point, here.next, second)
        there = _step(groups, leap)
        if not there.deviance <= here.deviance:
            leap, there = second, _step(groups, second)
        point, here = leap, there
    covs = np.array([_definite(cov) for cov in here.next.covs])
    return Effects(here.means, covs, here.next.noise, steps, converged)


@dataclass(frozen=True, eq=False)
class _Point:
    covs: np.ndarray
    noise: float

    @property
    def vector(self) -> np.ndarray:
        return np.append(self.covs.ravel(), self.noise)


@dataclass(frozen=True, eq=False)
class _Step:
    """A step of EM from a point."""

    deviance: float  # −2 log of the restricted likelihood at the point
    means: np.ndarray
    next: _Point


def _start(groups: Sequence[Sums]) -> _Point:
    noise = sum(_residual(group) for group in groups) / _rows(groups) / 2
    return _Point(np.array([noise * np.eye(group.cross.shape[1]) for group in groups]), noise)


def _rows(groups: Sequence[Sums]) -> float:
    return sum(float(group.weight @ group.freedom) for group in groups)


def _step(groups: Sequence[Sums], point: _Point) -> _Step:
    found = [_expect(own, cov, point.noise) for own, cov in zip(groups, point.covs, strict=True)]
    deviances, means, covs, squares = (np.array(part) for part in zip(*found, strict=True))
    power = sum(float(group.weight @ group.power) for group in groups)
    new = _Point(covs, max(float(squares.sum()), FLOOR * power) / _rows(groups))
    return _Step(float(deviances.sum()), means, new)


def _leap(start: _Point, first: _Point, second: _Point) -> _Point:
    """The extrapolation of two steps of EM (SQUAREM, Varadhan and Roland 2008, scheme S3); shorter
    if a covariance or σ² would not be positive."""
    step = first.vector - start.vector
    bend = second.vector - first.vector - step
    length = min(float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), TINY), FURTHEST)
    while length > 1:
        made = start.vector + 2 * length * step + length**2 * bend
        covs, noise = made[:-1].reshape(start.covs.shape), float(made[-1])
        if noise > 0 and np.linalg.eigvalsh(covs).min() > 0:
            return _Point(covs, noise)
        length = (length + 1) / 2 if length > 1.1 else 1.0
    return second


def _residual(group: Sums) -> float:
    """Squared residuals of least squares with one β for all units."""
    cross, gram = group.weight @ group.cross, np.tensordot(group.weight, group.gram, 1)
    return float(group.weight @ group.power - cross @ np.linalg.solve(gram, cross))


def _expect(
    group: Sums, cov: np.ndarray, noise: float
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """A step of EM of a group: its deviance; μ by generalised least squares; the new Σ; the
    expected squared residuals.

    With V = XΣXᵀ + σ²I, XᵀV⁻¹X is A = (σ²I + GΣ)⁻¹G and XᵀV⁻¹y is (σ²I + GΣ)⁻¹Xᵀy. Given y and
    μ, β_u − μ has mean ΣXᵀV⁻¹(y − Xμ) and covariance Σ − ΣAΣ; μ itself has covariance
    C = (Σ_u A)⁻¹, which REML adds.
    """
    gram, eye = group.gram, np.eye(len(cov))
    marginal = noise * eye + gram @ cov
    inner = np.linalg.inv(marginal)
    information = inner @ gram  # A
    label = (inner @ group.cross[..., None])[..., 0]
    error = np.linalg.inv(np.tensordot(group.weight, information, 1))  # C
    right = group.weight @ label
    mean = error @ right
    fit = (group.power - ((label @ cov) * group.cross).sum(1)) / noise  # yᵀV⁻¹y
    spread = np.linalg.slogdet(marginal)[1] + (group.freedom - len(cov)) * np.log(noise)  # log|V|
    deviance = group.weight @ (fit + spread) - np.linalg.slogdet(error)[1] - right @ mean

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
    return float(deviance), mean, (new + new.T) / 2, float(group.weight @ squares)


def _definite(cov: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(cov)
    return (vectors * np.maximum(values, FLOOR * values[-1])) @ vectors.T
