"""How low task heads go: not Theorem 4 is the bound, but what each task could reach alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mixtures
import numpy as np
import pytest
import torch
from agreement import FALSE_ALARM, z_score
from decoupling.problem.gaussian_moments import population_moments
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.one_layer import OneLayer, risk
from decoupling.theory.optimum import optima
from decoupling.theory.theorems import joint_heads
from literal import draw_sequences, squared_errors
from mixtures import exact_risk
from scipy.stats import norm
from task_heads import bound, rescaled

FLOAT = 1e-10  # relative, see mixtures.random_spd
CASES = mixtures.random_cases(12, max_tasks=3)
UNEQUAL = [case for case in CASES if case[0].tasks > 1]


def example(mean: float) -> TaskMixture:
    covs = np.stack([np.diag([4, 0.05]), np.eye(2)])
    means = mean * np.array([[1.0, 1.0], [-1.0, -1.0]])
    return TaskMixture("example", np.full(2, 0.5), means, covs, np.eye(2), 0.0)


def with_covs(mix: TaskMixture, scales: np.ndarray, noise: float) -> TaskMixture:
    """The same with multiples of the first task's covariance."""
    return replace(mix, covs=scales[:, None, None] * mix.covs[0], noise_var=noise)


@cache
def optimum(case: tuple[TaskMixture, int]) -> float:
    return optima(*case)["joint_heads"]


def random_layer(mix: TaskMixture, rng: np.random.Generator) -> OneLayer:
    """A₁ with both of its parts, and heads that have nothing to do with the means."""
    size = mix.dim + 1
    prompts = rng.standard_normal((mix.tasks, 1, size))
    readouts = rng.standard_normal((mix.tasks, 1, size))
    return OneLayer(rng.standard_normal((1, mix.dim, size)) / 20, readouts, prompts)


def of_one_task(mix: TaskMixture, k: int, weight: np.ndarray, n: int) -> float:
    """f_k: the risk of xᵀW Xᵀy₀ as a prediction of y₀ = y − xᵀμ_k."""
    centred = replace(mix, weights=np.ones(1), means=0 * mix.means[:1], covs=mix.covs[k : k + 1])
    label = np.append(np.zeros(mix.dim), 1.0)[None, None]
    model = OneLayer(np.pad(weight, ((0, 0), (0, 1)))[None], label, None)
    return risk(population_moments(centred, n), model).item()


def test_heads_go_below_theorem_4_without_noise():
    """To the digits that are given; where the means are 0, rescaling is all there is."""
    mix, n = example(0), 10
    assert joint_heads(mix, n).risk == pytest.approx(0.664288, abs=5e-7)
    assert rescaled(mix, n).risk == pytest.approx(0.660674, abs=5e-7)
    assert optima(mix, n)["joint_heads"] == pytest.approx(0.660674, abs=5e-7)
    assert optima(example(1), n)["joint_heads"] == pytest.approx(0.658119, abs=5e-7)
    assert bound(mix, n) == pytest.approx(0.588119, abs=5e-7)


@pytest.mark.parametrize("mean", [0, 1])
def test_explicit_heads_below_theorem_4_by_exact_risk(mean: float):
    """No search: Theorem 4's own parameters, with heads rescaled by 0.975 and 1.064."""
    mix, n = example(mean), 10
    theorem = joint_heads(mix, n)
    scales = np.array([0.975, 1.064])[:, None]
    prompts = theorem.prompts.copy()
    prompts[:, -1] += 1 / scales[:, 0] - 1  # pᵀa = 1 as before
    changed = replace(theorem, readouts=scales * theorem.readouts, prompts=prompts)
    assert exact_risk(mix, n, theorem) == pytest.approx(theorem.risk, rel=FLOAT)
    assert exact_risk(mix, n, changed) < theorem.risk * (1 - 0.005)


def test_explicit_heads_below_theorem_4_by_simulation():
    """Literal sequences, the same for both: a paired difference below 0, and both risks right."""
    mix, n = example(1), 10
    sequences = draw_sequences(mix, n, 200_000, torch.Generator().manual_seed(0))
    errors = []
    for solution in (joint_heads(mix, n), rescaled(mix, n)):
        params = {
            "query": np.pad(solution.weight, ((0, 1), (0, 1)))[None],
            "key": np.eye(3)[None],
            "value": np.eye(3)[None],
            "heads": solution.readouts,
            "prompts": solution.prompts,
        }
        params = {name: torch.from_numpy(value) for name, value in params.items()}
        errors.append(squared_errors(params, sequences).numpy())
        assert abs(z_score(errors[-1], solution.risk)) < norm.isf(FALSE_ALARM / 2)
    assert z_score(errors[1] - errors[0], 0.0) < -norm.isf(FALSE_ALARM / 2)


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_bound_and_order(case):
    """bound ≤ optimum ≤ rescaled ≤ Theorem 4, with noise and without."""
    for mix in (case[0], replace(case[0], noise_var=0.0)):
        point = mix, case[1]
        solution, theorem = rescaled(*point), joint_heads(*point).risk
        assert exact_risk(*point, solution) == pytest.approx(solution.risk, rel=FLOAT)
        assert bound(*point) <= optimum(point) * (1 + FLOAT)
        assert optimum(point) <= solution.risk * (1 + FLOAT)
        assert solution.risk <= theorem * (1 + FLOAT)


@pytest.mark.parametrize("case", UNEQUAL, ids=mixtures.case_name)
def test_unequal_covariances_leave_room_below_theorem_4_without_noise(case):
    mix, n = replace(case[0], noise_var=0.0), case[1]
    assert rescaled(mix, n).risk < joint_heads(mix, n).risk * (1 - 1e-8)  # 100 times FLOAT


@pytest.mark.parametrize("case", UNEQUAL, ids=mixtures.case_name)
def test_theorem_4_is_the_optimum_where_the_tasks_best_matrices_are_equal(case):
    """Equal Σ_k, or multiples of one matrix without noise."""
    mix, n = case
    scales = np.linspace(1, 2, mix.tasks)
    for equal in (with_covs(mix, np.ones(mix.tasks), 1.5), with_covs(mix, scales, 0.0)):
        theorem = joint_heads(equal, n).risk
        assert bound(equal, n) == pytest.approx(theorem, rel=FLOAT)
        assert optimum((equal, n)) == pytest.approx(theorem, rel=FLOAT)


@pytest.mark.parametrize("case", UNEQUAL, ids=mixtures.case_name)
def test_multiples_with_noise_are_not_among_them(case):
    mix, n = with_covs(case[0], np.linspace(1, 2, case[0].tasks), 1.5), case[1]
    theorem = joint_heads(mix, n).risk
    assert bound(mix, n) <= rescaled(mix, n).risk < theorem * (1 - 1e-8)


@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_in_one_dimension_heads_reach_the_bound(noise: float):
    """There a scale is any W_k."""
    mix, n = mixtures.random_mixture(np.random.default_rng(3), 1, 3, noise), 7
    assert rescaled(mix, n).risk == pytest.approx(bound(mix, n), rel=FLOAT)


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_any_parameters_risk_is_at_least_each_tasks_own(case):
    """The proof's inequality before it drops k: risk ≥ Σ π_k f_k(W_k), for random parameters."""
    mix, n = case
    rng = np.random.default_rng(0)
    for _ in range(5):
        layer = random_layer(mix, rng)
        block, last = layer.scores[0, :, :-1], layer.scores[0, :, -1:]
        own = 0.0
        for k, (weight, mean) in enumerate(zip(mix.weights, mix.means, strict=True)):
            head, scale = layer.readouts[k, 0, :-1], layer.readouts[k, 0, -1]
            seen = last * head + scale * (block + 2 * last * mean)
            own += weight * of_one_task(mix, k, seen, n)
        assert bound(mix, n) <= own * (1 + FLOAT)
        assert own <= risk(population_moments(mix, n), layer).item() * (1 + FLOAT)
