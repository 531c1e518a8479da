"""The optimum of unconstrained attention, found numerically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import mixtures
import numpy as np
import precise
import pytest
from decoupling.models.arms import ARMS
from decoupling.problem.gaussian_moments import GaussianMoments, population_moments
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.one_layer import (
    OneLayer,
    risk,
    risk_and_gradient,
)
from decoupling.theory.optimum import OPTIMUM_ARMS, optima
from decoupling.theory.theorems import THEOREMS
from scipy.optimize import minimize

CASES = mixtures.random_cases(6, max_tasks=3)
PAPER_CASES = [("fig2a", 10), ("fig2b", 20), ("fig2d", 50), ("figA1d", 1), ("figA2d", 7)]


@cache
def paper_optima(name: str, n: int) -> dict[str, float]:
    return optima(mixtures.paper(name), n)


def descend(objective: Callable, start: np.ndarray) -> tuple[float, np.ndarray]:
    """L-BFGS; `objective` gives the value and its gradient, in the shape of `start`."""

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(x.reshape(start.shape))
        return value.item(), gradient.ravel()

    options = {"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    found = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.fun, found.x.reshape(start.shape)


def best_scores(
    moments: GaussianMoments, readouts: np.ndarray, prompts: np.ndarray | None
) -> OneLayer:
    """A₁ = E[βφᵀ]E[φφᵀ]⁻¹ for given readouts and prompts."""
    made = moments.features(readouts, prompts)
    return OneLayer(np.linalg.solve(made.outer, made.beta.mT).mT, readouts, prompts)


def searched(mix: TaskMixture, n: int, arm: str, spread: float) -> tuple[float, OneLayer]:
    """Over readouts and prompts themselves, from the closed form with every entry moved."""
    moments, solution = population_moments(mix, n), THEOREMS[arm](mix, n)
    readouts = solution.readouts if ARMS[arm].trains.heads else solution.readouts[:1]
    prompts = solution.prompts if ARMS[arm].trains.prompts else np.empty((0, mix.dim + 1))
    start = np.vstack([readouts, prompts])[:, None]
    noise = spread * np.random.default_rng(0).standard_normal(start.shape)

    def model(unknowns: np.ndarray) -> OneLayer:
        given = unknowns[len(readouts) :] if len(prompts) else None
        return best_scores(moments, unknowns[: len(readouts)], given)

    def objective(unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A₁ is at its best, so its own change does not enter the gradient."""
        value, grad = risk_and_gradient(moments, model(unknowns))
        parts = [grad.readouts] if grad.prompts is None else [grad.readouts, grad.prompts]
        return value, np.concatenate(parts)

    value, unknowns = descend(objective, start * (1 + noise) + noise)
    return value, model(unknowns)


@pytest.mark.parametrize(
    ("name", "arm", "expected"),
    [("fig2a", "plain", 4.43506), ("fig2a", "joint", 3.84655), ("fig2c", "plain", 4.29639)],
)
def test_reference_values(name: str, arm: str, expected: float):
    """To half of the last digit."""
    assert paper_optima(name, 50)[arm] == pytest.approx(expected, abs=5e-6)


def assert_bounds(best: dict[str, float], mix: TaskMixture, n: int) -> None:
    """Below the theorems, and what trains more is at least as good; to float precision."""
    slack = 1 + 1e-10
    for arm in ("plain", "joint", "joint_heads"):
        assert best[arm] <= THEOREMS[arm](mix, n).risk * slack
    assert best["joint_heads"] <= best["joint"] * slack
    assert best["joint"] <= best["finetune"] * slack
    assert best["finetune"] <= best["plain"] * slack
    assert best["joint_heads"] <= best["heads"] * slack
    assert best["heads"] <= best["finetune_only_heads"] * slack
    assert best["joint_heads"] <= best["finetune_heads"] * slack
    assert best["finetune_heads"] <= best["finetune_only_heads"] * slack
    assert best["finetune_heads"] <= best["finetune"] * slack
    assert best["finetune_only_heads"] <= best["plain"] * slack
    assert mix.noise_var < best["joint_heads"]


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_order_for_random_mixtures(case):
    assert_bounds(optima(*case), *case)


@pytest.mark.parametrize(("name", "n"), PAPER_CASES)
def test_order_for_the_papers_settings(name: str, n: int):
    assert_bounds(paper_optima(name, n), mixtures.paper(name), n)


@pytest.mark.parametrize("n", [1, 20, 50])
def test_without_means_the_theorem_is_the_optimum(n: int):
    """fig2b: nothing to gain for an unconstrained model that shares its head."""
    best, mix = paper_optima("fig2b", n), mixtures.paper("fig2b")
    for arm in ("plain", "finetune", "joint"):
        assert best[arm] == pytest.approx(THEOREMS[arm](mix, n).risk, rel=1e-8)


@pytest.mark.parametrize("arm", ["plain", "joint"])
@pytest.mark.parametrize("case", CASES[:4], ids=mixtures.case_name)
def test_search_over_prompts_and_heads_reaches_the_same(case, arm: str):
    """Without centring, from the closed form moved by 1% and by 30%."""
    best = optima(*case)[arm]
    found = [searched(*case, arm, spread)[0] for spread in (0.01, 0.3)]
    assert min(found) == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("case", CASES[:4], ids=mixtures.case_name)
def test_search_with_task_heads_finds_no_less(case):
    """Prompts and heads must cancel to pᵀa = 1, so the search is slow: from the closed form it
    goes down but need not arrive. With one task the closed form is the optimum already."""
    best, theorem = optima(*case)["joint_heads"], THEOREMS["joint_heads"](*case).risk
    found = searched(*case, "joint_heads", spread=0)[0]
    assert best * (1 - 1e-8) <= found <= theorem * (1 + 1e-10)
    if case[0].tasks == 1:
        assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("case", CASES[:4], ids=mixtures.case_name)
def test_finetune_is_the_best_prompt_on_the_plain_optimum(case):
    """Numerically, over the prompts alone, at a `plain` optimum found independently."""
    mix, n = case
    best, moments = optima(mix, n), population_moments(mix, n)
    plain_risk, plain = searched(mix, n, "plain", 0.01)
    assert plain_risk == pytest.approx(best["plain"], rel=1e-8)

    def objective(prompts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, grad = risk_and_gradient(moments, OneLayer(plain.scores, plain.readouts, prompts))
        return value, grad.prompts

    rng, shape = np.random.default_rng(0), (mix.tasks, 1, mix.dim + 1)
    found = min(descend(objective, 10 * rng.standard_normal(shape))[0] for _ in range(6))
    assert found == pytest.approx(best["finetune"], rel=1e-4)
    assert found >= best["finetune"] * (1 - 1e-8)


def best_prompts(moments: GaussianMoments, mix: TaskMixture, layer: OneLayer) -> np.ndarray:
    """p_k with p_kᵀa_k = 1 and A₁p_k = μ_k − A₁E[S | k]a_k: the null vector of A₁ makes room."""
    scores, null = layer.scores[0], np.linalg.svd(layer.scores[0])[2][-1]
    found = []
    for k, readout in enumerate(layer.readouts[:, 0]):
        bias = mix.means[k] - scores @ moments.gram[k] @ readout
        least = np.linalg.lstsq(scores, bias, rcond=None)[0]
        found.append(least + (1 - least @ readout) / (null @ readout) * null)
    return np.array(found)[:, None]


@pytest.mark.parametrize("arm", ["finetune_heads", "finetune_only_heads"])
@pytest.mark.parametrize("case", CASES[:4], ids=mixtures.case_name)
def test_fine_tuned_heads_are_the_best_on_the_plain_optimum(case, arm: str):
    """Parameters that reach it, and a search from there and from plain's that finds nothing less.
    The tolerance is that of a `plain` optimum found independently."""
    mix, n = case
    best, moments = optima(mix, n)[arm], population_moments(mix, n)
    _, plain = searched(mix, n, "plain", 0.01)
    with_prompts = ARMS[arm].trains.prompts
    seen = moments.centred() if with_prompts else moments
    layer = OneLayer(plain.scores, seen.best_readouts(plain.scores), None)
    prompts = best_prompts(moments, mix, layer) if with_prompts else None
    assert risk(moments, replace(layer, prompts=prompts)) == pytest.approx(best, rel=1e-8)

    def objective(unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        given = unknowns[mix.tasks :] if with_prompts else None
        tried = OneLayer(plain.scores, unknowns[: mix.tasks], given)
        value, grad = risk_and_gradient(moments, tried)
        parts = [grad.readouts] if grad.prompts is None else [grad.readouts, grad.prompts]
        return value, np.concatenate(parts)

    started = np.repeat(plain.readouts, mix.tasks, 0)
    starts = [[started, np.ones_like(started)], [layer.readouts, prompts]]
    found = min(descend(objective, np.vstack(s[: 1 + with_prompts]))[0] for s in starts)
    assert found == pytest.approx(best, rel=1e-8)


def test_arms():
    assert set(paper_optima("fig2a", 50)) == set(OPTIMUM_ARMS)


LARGE = 100_000


@pytest.mark.parametrize("arm", ["plain", "joint"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_large_n_in_one_dimension(arm: str, noise: float):
    """Against 50 digits, also in the small difference to the theorem."""
    mix = mixtures.random_mixture(np.random.default_rng(7), 1, 2, noise)
    best = optima(mix, LARGE)[arm]
    exact = precise.scalar_optimum(mix, LARGE, arm == "joint")
    assert best == pytest.approx(float(exact), rel=1e-10)
    cost = float(precise.theorem_risks(mix, LARGE)[arm] - exact)
    assert THEOREMS[arm](mix, LARGE).risk - best == pytest.approx(cost, rel=1e-6, abs=1e-14)


def test_large_n_where_the_theorem_is_the_optimum():
    best = paper_optima("fig2b", LARGE)
    mix = mixtures.paper("fig2b")
    for arm in ("plain", "finetune", "joint"):
        assert best[arm] == pytest.approx(THEOREMS[arm](mix, LARGE).risk, rel=1e-9)


@pytest.mark.parametrize("name", ["fig2a", "fig2c", "figA2a"])
def test_what_assumption_1_costs_joint_training_without_end(name: str):
    """Without noise and for Σx = I, risk → (d+1)tr(S̃)/n, and a shared head takes the average mean
    out of S̃: nothing in fig2c, whose average mean is 0, 5.5% in fig2a."""
    mix = mixtures.paper(name)
    average = mix.weights @ mix.means
    limit = average @ average / (np.trace(mix.biased_cov) - average @ average)
    cost = THEOREMS["joint"](mix, LARGE).risk / paper_optima(name, LARGE)["joint"] - 1
    assert cost == pytest.approx(limit, abs=1e-4)


def test_a_risk_that_is_little_of_the_labels_power_is_minimised_too():
    """Jointly trained prompts with means much larger than their spread: the optimum comes to a
    limit, while its share of E[y²] goes to 0."""
    block = dict(d=4, weights=[0.3, 0.7], covs=[1, 1])
    found = [
        optima(mixtures.make_spec("far", block | {"means": [1.7 * size, -1.3 * size]}), 20)["joint"]
        for size in (100, 1000)
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-3)
