"""Random effects: REML by EM against the likelihood itself, and against known effects."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from decoupling.sources.table import random_effects
from decoupling.sources.table.random_effects import Sums, fit
from scipy.optimize import minimize

COVS = np.array([[[0.5, 0.2], [0.2, 0.4]], [[0.3, -0.1], [-0.1, 0.6]]])
MEANS = np.array([[1.0, -1.0], [0.0, 2.0]])
NOISE = 0.7


def units(count: int, rows: int, seed: int = 0) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """(X, y) of units of two groups; some have one row, fewer than coefficients."""
    rng = np.random.default_rng(seed)
    found = []
    for mean, cov in zip(MEANS, COVS, strict=True):
        own = []
        for unit in range(count):
            size = 1 if unit % 5 == 0 else rows
            x = rng.standard_normal((size, 2))
            beta = mean + np.linalg.cholesky(cov) @ rng.standard_normal(2)
            own.append((x, x @ beta + NOISE**0.5 * rng.standard_normal(size)))
        found.append(own)
    return found


def sums(groups: list) -> list[Sums]:
    return [
        Sums(
            np.array([x.T @ x for x, _ in own]),
            np.array([x.T @ y for x, y in own]),
            np.array([y @ y for _, y in own]),
            np.array([len(y) for _, y in own]),
            np.ones(len(own)),
        )
        for own in groups
    ]


def restricted_deviance(groups: list, covs: np.ndarray, noise: float) -> float:
    """−2 log of the restricted likelihood, from its definition."""
    total = 0.0
    for own, cov in zip(groups, covs, strict=True):
        precision, right = np.zeros((2, 2)), np.zeros(2)
        for x, y in own:
            inverse = np.linalg.inv(x @ cov @ x.T + noise * np.eye(len(y)))
            total -= np.linalg.slogdet(inverse)[1]
            total += y @ inverse @ y
            precision += x.T @ inverse @ x
            right += x.T @ inverse @ y
        total += np.linalg.slogdet(precision)[1] - right @ np.linalg.solve(precision, right)
    return float(total)


def test_estimates_minimise_the_restricted_deviance():
    groups = units(40, 6)
    found = fit(sums(groups))

    def deviance(unknowns: np.ndarray) -> float:
        roots = np.zeros((2, 2, 2))
        roots[:, [0, 1, 1], [0, 0, 1]] = unknowns[:6].reshape(2, 3)
        return restricted_deviance(groups, roots @ roots.mT, np.exp(unknowns[6]))

    roots = np.linalg.cholesky(found.covs)
    start = np.append(roots[:, [0, 1, 1], [0, 0, 1]].ravel(), np.log(found.noise_var))
    options = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000, "maxfev": 4000}
    best = minimize(deviance, start, method="Nelder-Mead", options=options)
    assert deviance(start) - best.fun < 1e-4  # of a deviance whose unit is a χ² with one degree
    assert np.exp(best.x[6]) == pytest.approx(found.noise_var, rel=2e-3)


def test_known_effects_are_found():
    """With 1,000 units a group; errors of a few percent are the sample's."""
    found = fit(sums(units(1000, 8, seed=1)))
    np.testing.assert_allclose(found.means, MEANS, atol=0.1)
    np.testing.assert_allclose(found.covs, COVS, atol=0.12)
    assert found.noise_var == pytest.approx(NOISE, rel=0.04)


def test_it_says_whether_it_has_converged(monkeypatch: pytest.MonkeyPatch):
    groups = sums(units(40, 6))
    found = fit(groups)
    assert found.converged
    monkeypatch.setattr(random_effects, "MOST_STEPS", found.steps)
    assert fit(groups).converged
    monkeypatch.setattr(random_effects, "MOST_STEPS", found.steps - 1)
    assert not fit(groups).converged


def test_covariances_stay_positive_definite():
    """Units that do not differ at all."""
    rng = np.random.default_rng(2)
    same = [(x, x @ MEANS[0]) for x in rng.standard_normal((30, 5, 2))]
    same = [(x, y + rng.standard_normal(5)) for x, y in same]
    found = fit(sums([same, same]))
    assert (np.linalg.eigvalsh(found.covs) > 0).all()
    assert np.abs(found.covs).max() < 0.2


@pytest.mark.filterwarnings("error")
def test_labels_without_noise_leave_a_floor():
    """Where a unit's labels are its own linear function of x, squared residuals are rounding."""
    rng = np.random.default_rng(4)
    groups = [
        [(x, x @ (mean + rng.standard_normal(2))) for x in rng.standard_normal((30, 6, 2))]
        for mean in MEANS
    ]
    found = fit(sums(groups))
    power = np.concatenate([y for own in groups for _, y in own])
    assert found.noise_var == pytest.approx(random_effects.FLOOR * (power @ power) / len(power))
    assert (np.linalg.eigvalsh(found.covs) > 0).all()


def test_a_weight_is_that_many_units_alike():
    made = sums(units(12, 6))
    counts = np.arange(12) % 3 + 1
    weighed = [replace(group, weight=counts.astype(float)) for group in made]
    names = [field.name for field in fields(Sums)]
    repeated = [
        Sums(*(np.repeat(getattr(group, name), counts, axis=0) for name in names)) for group in made
    ]
    one, other = fit(weighed), fit(repeated)
    np.testing.assert_allclose(one.covs, other.covs, rtol=1e-6)  # its TOLERANCE
    np.testing.assert_allclose(one.means, other.means, rtol=1e-6)
    assert one.noise_var == pytest.approx(other.noise_var, rel=1e-6)


def test_where_it_starts_does_not_matter():
    """To about what is left of the way: steps of EM get shorter by less than a factor 100 here."""
    made = sums(units(40, 6))
    found = fit(made)
    apart = replace(found, covs=np.array([np.eye(2), 0.1 * np.eye(2)]), noise_var=2.0)
    again = fit(made, apart)
    np.testing.assert_allclose(again.covs, found.covs, atol=100 * random_effects.TOLERANCE)
    assert fit(made, found).steps < 5


def test_deviance_is_that_of_its_definition():
    """To about what rounding leaves of sums of a few hundred terms."""
    groups = units(40, 6)
    for covs, noise in ((COVS, NOISE), (2 * COVS, 0.3)):
        found = random_effects._step(sums(groups), random_effects._Point(covs, noise)).deviance
        assert found == pytest.approx(restricted_deviance(groups, covs, noise), rel=1e-12)
