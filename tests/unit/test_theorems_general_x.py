"""Theorems for any x: the Gaussian case, and literal simulation where x is not Gaussian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from decoupling.problem.feature_moments import FeatureMoments
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.theorems import CLOSED_FORMS
from decoupling.theory.theorems_general_x import GENERAL_X, GeneralSolution

ERRORS = 4.5  # standard errors; a false alarm in 150,000 comparisons
CONTEXTS = 400_000


def mixture(sigma_x: np.ndarray, seed: int = 0) -> TaskMixture:
    rng = np.random.default_rng(seed)
    dim = len(sigma_x)
    roots = rng.standard_normal((2, dim, dim))
    covs = roots @ roots.mT + 0.3 * np.eye(dim)
    means = rng.standard_normal((2, dim))
    return TaskMixture("any", np.array([0.3, 0.7]), means, covs, sigma_x, 0.7)


def uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Rows [1; u], u uniform: E[xxᵀ] = diag(1, 1/3, 1/3)."""
    return np.concatenate([np.ones((*shape, 1)), rng.uniform(-1, 1, (*shape, 2))], axis=-1)


UNIFORM_FOURTH = np.zeros((3, 3, 3, 3))
for i in range(3):
    for j in range(3):
        both = (1 if i == 0 else 1 / 3) * (1 if j == 0 else 1 / 3)
        for place in ((i, i, j, j), (i, j, i, j), (i, j, j, i)):
            UNIFORM_FOURTH[place] = both
for i, moment in enumerate((1, 1 / 5, 1 / 5)):
    UNIFORM_FOURTH[i, i, i, i] = moment


def labels(mix: TaskMixture, x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """y and tasks of contexts that share x."""
    task = rng.choice(2, p=mix.weights, size=len(x))
    normals = rng.standard_normal((len(x), mix.dim))
    beta = mix.means[task] + np.einsum("bij,bj->bi", np.linalg.cholesky(mix.covs)[task], normals)
    noise = mix.noise_var**0.5 * rng.standard_normal(x.shape[:2])
    return np.einsum("bid,bd->bi", x, beta) + noise, task


def squared_errors(
    arm: str,
    form: GeneralSolution,
    mix: TaskMixture,
    x: np.ndarray,
    y: np.ndarray,
    task: np.ndarray,
) -> np.ndarray:
    """Of ŷ = x_qᵀ(Wg + v_k), context by context; heads take μ_k out of the context's labels."""
    known = y[:, :-1]
    if arm == "joint_heads":
        known = known - np.einsum("bid,bd->bi", x[:, :-1], mix.means[task])
    summary = np.einsum("bid,bi->bd", x[:, :-1], known)
    made = (x[:, -1] * (summary @ form.weight.T + form.shifts[task])).sum(1)
    return (made - y[:, -1]) ** 2


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
@pytest.mark.parametrize("arm", GENERAL_X)
def test_gaussian_rows_give_the_theorems(arm: str, n: int):
    root = np.random.default_rng(5).standard_normal((3, 3))
    mix = mixture(root @ root.T + 0.2 * np.eye(3))
    made = GENERAL_X[arm](mix, FeatureMoments.gaussian(mix.sigma_x), n)
    theorem = CLOSED_FORMS["theorem"][arm](mix, n)
    # The risk is what is left of E[y²], about a share of 1/n: rounding grows by as much.
    assert made.risk == pytest.approx(theorem.risk, rel=1e-13 * (10 + n))
    assert made.weight == pytest.approx(theorem.weight, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("arm", GENERAL_X)
def test_uniform_rows_with_an_intercept(arm: str, n: int):
    """The closed form is the literal risk of its own parameters, and no others do better."""
    sigma_x = np.diag([1, 1 / 3, 1 / 3])
    mix, rng = mixture(sigma_x), np.random.default_rng(n)
    form = GENERAL_X[arm](mix, FeatureMoments.independent(sigma_x, UNIFORM_FOURTH), n)
    x = uniform(rng, (CONTEXTS, n + 1))
    drawn = x, *labels(mix, x, rng)
    errors = squared_errors(arm, form, mix, *drawn)
    assert abs(errors.mean() - form.risk) < ERRORS * errors.std() / CONTEXTS**0.5
    moved = form if arm == "plain" else replace(form, shifts=form.shifts + 0.2)
    if arm != "finetune":  # whose weights are plain's
        moved = replace(moved, weight=form.weight * 1.5)
    loss = squared_errors(arm, moved, mix, *drawn) - errors
    assert loss.mean() > ERRORS * loss.std() / CONTEXTS**0.5


def test_the_gaussian_theorem_is_wrong_for_them():
    """So that the test above would see it."""
    sigma_x = np.diag([1, 1 / 3, 1 / 3])
    mix = mixture(sigma_x)
    moments = FeatureMoments.independent(sigma_x, UNIFORM_FOURTH)
    assert (
        CLOSED_FORMS["theorem"]["plain"](mix, 4).risk
        > 1.1 * GENERAL_X["plain"](mix, moments, 4).risk
    )


@pytest.mark.parametrize("arm", GENERAL_X)
def test_rows_that_share_something(arm: str):
    """Rows of a unit, its query among them, are moved together: moments are measured on one set of
    units, the literal risk on another. Measured moments have an error too: half the contexts, so
    that the difference has about √3 of it."""
    rng = np.random.default_rng(3)

    def rows() -> np.ndarray:
        x = uniform(rng, (CONTEXTS, 5))
        x[..., 1:] += rng.uniform(-1, 1, (CONTEXTS, 1, 2))
        return x

    moments = FeatureMoments.measured(rows())
    mix = mixture(moments.sigma_x)
    form, x = GENERAL_X[arm](mix, moments, 4), rows()
    errors = squared_errors(arm, form, mix, x, *labels(mix, x, rng))
    assert abs(errors.mean() - form.risk) < 2 * ERRORS * errors.std() / CONTEXTS**0.5
    apart = GENERAL_X[arm](mix, FeatureMoments.independent(moments.sigma_x, moments.fourth), 4)
    if arm == "plain":  # and the test would see rows taken for independent
        assert abs(errors.mean() - apart.risk) > 10 * errors.std() / CONTEXTS**0.5


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("arm", GENERAL_X)
def test_measured_moments_leave_no_risk_below_the_noise(arm: str, n: int):
    """Of few contexts, whose moments do not belong together, and labels that hardly vary."""
    rng = np.random.default_rng(3)
    moments = FeatureMoments.measured(uniform(rng, (200, 6)))
    mix = mixture(moments.sigma_x)
    mix = replace(mix, covs=np.stack([np.diag([1, 1e-6, 1e-6])] * 2), means=0.1 * mix.means)
    for noise in (0.0, 1e-3):
        assert GENERAL_X[arm](replace(mix, noise_var=noise), moments, n).risk >= noise


def test_design_survives_json():
    rng = np.random.default_rng(2)
    moments = FeatureMoments.measured(rng.standard_normal((50, 4, 3)))
    again = FeatureMoments.from_dict(moments.to_dict())
    for name, array in vars(moments).items():
        assert getattr(again, name) == pytest.approx(array, rel=1e-15)


def test_measured_moments_are_averages():
    """Against loops over contexts and rows."""
    x = np.random.default_rng(1).standard_normal((6, 3, 2))
    moments = FeatureMoments.measured(x)
    outer = np.einsum("bia,bic->biac", x, x)
    assert moments.sigma_x == pytest.approx(outer.mean((0, 1)))
    fourth = np.einsum("biac,bide->acde", outer, outer) / 18
    assert moments.fourth == pytest.approx(fourth)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    pair = sum(np.einsum("bac,bde->acde", outer[:, i], outer[:, j]) for i, j in pairs) / 36
    assert moments.pair == pytest.approx(pair)
    triple = "bac,bde,bfg->acdefg"
    two = np.einsum(triple, outer[:, 2], outer[:, 0], outer[:, 1]) / 6
    two += np.einsum(triple, outer[:, 2], outer[:, 1], outer[:, 0]) / 6
    assert moments.query_pair == pytest.approx(two / 2)
    one = sum(np.einsum(triple, outer[:, 2], outer[:, i], outer[:, i]) for i in (0, 1)) / 12
    assert moments.query_fourth == pytest.approx(one)
