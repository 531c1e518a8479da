"""Theorems 1–4: their values, that their parameters reach them, and the corrected points."""

from __future__ import annotations

import math
from dataclasses import replace

import mixtures
import numpy as np
import pytest
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.theorems import THEOREMS
from mixtures import exact_risk

REFERENCE_N = (1, 10, 20, 30, 40, 50)
REFERENCE = {  # fig2d, raw risk
    "plain": (22.2598136, 12.0287807, 8.2957726, 6.3681948, 5.1757503, 4.3621184),
    "finetune": (17.1687760, 11.4606207, 8.1080966, 6.2758061, 5.1209456, 4.3258820),
    "joint": (16.0191868, 10.5515646, 7.6544337, 6.0066507, 4.9430287, 4.1995810),
    "joint_heads": (15.5833333, 8.9047619, 6.0322581, 4.5609756, 3.6666667, 3.0655738),
}
CASES = mixtures.random_cases(30)


def printed_prompts(mix: TaskMixture, n: int, weight: np.ndarray) -> np.ndarray:
    """Theorem 3 as printed: rows of M_μ(W̄⁻¹ − nI)Σx with W̄ = ΣxW."""
    inverse = np.linalg.inv(mix.sigma_x @ weight)
    top = mix.means @ (inverse - n * np.eye(mix.dim)) @ mix.sigma_x
    return np.hstack([top, np.ones((mix.tasks, 1))])


def log_slope(gap, n: float) -> float:
    """d log gap / d log n around n."""
    return math.log(gap(2 * n) / gap(n / 2)) / math.log(4)


@pytest.mark.parametrize("arm", THEOREMS)
def test_reference_values(arm: str):
    mix = mixtures.paper("fig2d")
    risks = [THEOREMS[arm](mix, n).risk for n in REFERENCE_N]
    np.testing.assert_allclose(risks, REFERENCE[arm], rtol=0, atol=1e-6)
    assert mix.label_power == pytest.approx(25.4, rel=1e-14)


@pytest.mark.parametrize("arm", THEOREMS)
@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_parameters_reach_the_risk(case, arm: str):
    solution = THEOREMS[arm](*case)
    assert exact_risk(*case, solution) == pytest.approx(solution.risk, rel=1e-10)


@pytest.mark.parametrize("arm", THEOREMS)
@pytest.mark.parametrize("case", CASES[:6], ids=mixtures.case_name)
def test_parameters_are_stationary(case, arm: str):
    """Nearby weights (and nearby prompts) of the same form do no better."""
    mix, n = case
    solution = THEOREMS[arm](mix, n)
    rng = np.random.default_rng(1)
    for _ in range(5):
        change = 1e-3 * rng.standard_normal(solution.weight.shape) * np.abs(solution.weight).max()
        moved = replace(solution, weight=solution.weight + change)
        if arm != "finetune":  # whose weight is plain's, not its own best
            assert exact_risk(mix, n, moved) > solution.risk
        if solution.prompts is not None:
            factor = 1 + 1e-3 * rng.standard_normal(solution.prompts.shape)
            moved = replace(solution, prompts=solution.prompts * factor)
            assert exact_risk(mix, n, moved) > solution.risk


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_order_of_the_arms(case):
    risks = {arm: theorem(*case).risk for arm, theorem in THEOREMS.items()}
    assert risks["joint_heads"] < risks["joint"] < risks["finetune"] < risks["plain"]


@pytest.mark.parametrize("n", REFERENCE_N)
@pytest.mark.parametrize("arm", THEOREMS)
def test_without_means_all_coincide(arm: str, n: int):
    mix = mixtures.paper("fig2b")
    normalized = THEOREMS[arm](mix, n).risk / mix.label_power
    assert normalized == pytest.approx((mix.dim + 1) / (n + mix.dim + 1), rel=1e-12)


def commuting_mixture() -> TaskMixture:
    """Σx commutes with S̃, but neither with S̄ nor with M."""
    mix = mixtures.random_mixture(np.random.default_rng(5), 4, 3, 1)
    _, basis = np.linalg.eigh(mix.sigma_x)
    biased = (basis * (np.trace(mix.mean_outer) + np.arange(1, 5))) @ basis.T
    covs = np.broadcast_to(biased - mix.mean_outer, mix.covs.shape)
    return replace(mix, covs=covs)


def printed_gain(mix: TaskMixture, n: int) -> float:
    """Theorem 2: tr((Σ̃ − Σ̄)(nW̄−I)ᵀ(nW̄−I)), where Σ̃ − Σ̄ = ΣxM and W̄ = ΣxW."""
    rest = n * mix.sigma_x @ THEOREMS["plain"](mix, n).weight - np.eye(mix.dim)
    return np.trace(mix.sigma_x @ mix.mean_outer @ rest.T @ rest)


def true_gain(mix: TaskMixture, n: int) -> float:
    """By exact risk of the parameters."""
    plain, tuned = (exact_risk(mix, n, THEOREMS[arm](mix, n)) for arm in ("plain", "finetune"))
    return plain - tuned


@pytest.mark.parametrize("mix", [mixtures.paper("figA1d"), commuting_mixture()], ids=["I", "not I"])
def test_printed_finetune_gain_where_sigma_x_commutes(mix: TaskMixture):
    assert printed_gain(mix, 5) == pytest.approx(true_gain(mix, 5), rel=1e-9)


def test_printed_finetune_gain_elsewhere():
    mix = mixtures.random_mixture(np.random.default_rng(5), 4, 3, 1)
    assert true_gain(mix, 5) == pytest.approx(1.22225, abs=5e-6)
    assert printed_gain(mix, 5) == pytest.approx(1.20052, abs=5e-6)


@pytest.mark.parametrize("arm", ["finetune", "joint"])
def test_vector_form_of_the_prompts_in_the_proofs(arm: str):
    """p̄ = (W⁻¹ − nΣx)μ is right for both. The matrix that the proof of Theorem 2 boxes,
    M_μ(W̄⁻¹ − nΣx), is not what its theorem says; that of Theorem 3 lacks a transpose,
    of the whole of W̄⁻¹Σx."""
    mix, n = mixtures.random_mixture(np.random.default_rng(5), 4, 3, 1), 5
    solution = THEOREMS[arm](mix, n)
    weight, found = solution.weight, solution.prompts[:, :-1]
    by_vector = mix.means @ (np.linalg.inv(weight) - n * mix.sigma_x).T
    np.testing.assert_allclose(found, by_vector, rtol=0, atol=1e-9 * abs(by_vector).max())
    boxed = mix.means @ (np.linalg.inv(mix.sigma_x @ weight) - n * mix.sigma_x)
    as_stated = printed_prompts(mix, n, weight)[:, :-1]
    assert abs(boxed - found).max() > 0.01 * abs(found).max()
    agrees = np.allclose(as_stated, found, rtol=0, atol=1e-9 * abs(found).max())
    assert agrees == (arm == "finetune")
    inverse = np.linalg.inv(mix.sigma_x @ weight)  # W̄⁻¹
    whole = mix.means @ ((inverse @ mix.sigma_x).T - n * mix.sigma_x)
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-9 * abs(whole).max())
    part = mix.means @ (inverse.T - n * np.eye(4)) @ mix.sigma_x
    assert abs(part - found).max() > 0.01 * abs(found).max()


def test_printed_joint_prompt_is_transposed():
    mix, n = mixtures.paper("figA1d"), 1
    joint = THEOREMS["joint"](mix, n)
    printed = replace(joint, prompts=printed_prompts(mix, n, joint.weight))
    assert joint.risk == pytest.approx(31.61169, abs=5e-6)
    assert exact_risk(mix, n, printed) == pytest.approx(31.64407, abs=5e-6)


@pytest.mark.parametrize("name", ["fig2a", "fig2c", "figA1a", "figA1b"])
def test_printed_joint_prompt_where_covariances_commute(name: str):
    mix, n = mixtures.paper(name), 10
    joint = THEOREMS["joint"](mix, n)
    np.testing.assert_allclose(printed_prompts(mix, n, joint.weight), joint.prompts, rtol=1e-9)


@pytest.mark.parametrize("name", ["figA1a", "figA1b", "figA1c", "figA1d"])
def test_appendix_theorem_4_misses_the_noise(name: str):
    mix, n = mixtures.paper(name), 10
    solution = THEOREMS["joint_heads"](mix, n)
    printed = np.trace(mix.debiased_cov) - n * np.trace(solution.weight @ mix.debiased_cov)
    assert exact_risk(mix, n, solution) - printed == pytest.approx(mix.noise_var, rel=1e-9)


@pytest.mark.parametrize(
    ("upper", "lower", "slope"),
    [("plain", "finetune", -2), ("finetune", "joint", -2), ("joint", "joint_heads", -1)],
)
def test_rates_of_the_gaps(upper: str, lower: str, slope: int):
    """Corollary 1 claims O(n⁻¹) for finetune − joint, which is not tight."""
    mix = mixtures.paper("fig2c")

    def gap(n: float) -> float:
        return THEOREMS[upper](mix, n).risk - THEOREMS[lower](mix, n).risk

    assert log_slope(gap, 1e5) == pytest.approx(slope, abs=0.01)


@pytest.mark.parametrize("n", [1, 50, 100_000])
def test_the_proof_of_the_rate_evaluates_a_risk_away_from_its_minimum(n: int):
    """tr Σ̄ + σ² − n tr(W̄Σ̄) is the risk with best prompts at joint's W. At plain's it is less than
    the least risk there is."""
    mix = mixtures.paper("fig2c")
    risks = {}
    for arm in ("plain", "joint"):
        weight = THEOREMS[arm](mix, n).weight
        cov = mix.sigma_x @ mix.debiased_cov
        risks[arm] = np.trace(cov) + mix.noise_var - n * np.trace(mix.sigma_x @ weight @ cov)
    best = exact_risk(mix, n, THEOREMS["joint"](mix, n))
    assert risks["joint"] == pytest.approx(best, rel=1e-9)
    assert risks["plain"] < best < exact_risk(mix, n, THEOREMS["finetune"](mix, n))


@pytest.mark.parametrize(
    ("upper", "lower", "power"), [("plain", "finetune", 2), ("finetune", "joint", 4)]
)
@pytest.mark.parametrize("case", CASES[:6], ids=mixtures.case_name)
def test_gaps_as_the_means_get_small(case, upper: str, lower: str, power: int):
    """Corollary 1: "the loss gaps scale quadratically". The second is quadratic in M, not in μ: W
    changes by O(M), and joint's risk is at its minimum over W."""
    mix, n = case

    def gap(scale: float) -> float:
        small = mix.scaled_means(scale)
        return THEOREMS[upper](small, n).risk - THEOREMS[lower](small, n).risk

    first, second = (math.log(gap(2 * s) / gap(s)) / math.log(2) for s in (0.1, 0.05))
    assert first == pytest.approx(power, abs=0.2)
    limit = (4 * second - first) / 3  # what is left is O(s⁴), as gaps are even in s
    assert limit == pytest.approx(power, abs=0.01)


def test_the_size_of_the_means_is_not_bounded_by_squared_weights():
    """‖Δ‖_F ≤ max‖μ‖² Σπ_k² λ_max(Σx) in the proof of Corollary 1; with π_k for π_k² it holds."""
    mix = mixtures.paper("fig2a")
    size = np.linalg.norm(mix.sigma_x @ mix.mean_outer)
    most = max(mean @ mean for mean in mix.means)
    assert size == pytest.approx(20.5, rel=1e-12)
    assert size > 1.2 * most * (mix.weights**2).sum()  # Σx = I
    for case, _ in CASES:
        most = max(mean @ mean for mean in case.means) * np.linalg.norm(case.sigma_x, 2)
        assert np.linalg.norm(case.sigma_x @ case.mean_outer) <= most * (1 + 1e-12)


def test_the_ratio_of_the_first_two_gaps_tends_to_a_constant():
    """Not to 0 as 1/n, which Corollary 1 says. In fig2c's setting Σx and the covariances are
    multiples of I and only the means' direction counts: with S̃'s eigenvalue s̃ = s̄ + m along it,
    the limit is s̄/m."""
    mix = mixtures.paper("fig2c")
    unbiased = mix.debiased_cov[0, 0]
    means = np.linalg.eigvalsh(mix.mean_outer)[-1]

    def ratio(n: int) -> float:
        risks = [THEOREMS[arm](mix, n).risk for arm in ("plain", "finetune", "joint")]
        return (risks[0] - risks[1]) / (risks[1] - risks[2])

    assert ratio(100_000) == pytest.approx(unbiased / means, rel=1e-2)
    assert ratio(10_000) == pytest.approx(ratio(100_000), rel=1e-2)


@pytest.mark.parametrize("arm", ["finetune", "joint"])
@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_the_best_prompts_are_the_same_at_every_n(case, arm: str):
    """The text after Theorem 3 has them grow as −nΣxμ_k."""
    mix, _ = case
    sx, power = mix.sigma_x, mix.label_power * np.eye(mix.dim)
    noise, cov = {
        "finetune": (power, mix.biased_cov),
        "joint": (power + sx @ mix.mean_outer, mix.debiased_cov),
    }[arm]
    wanted = mix.means @ (sx + noise @ np.linalg.inv(cov)).T
    for n in (1, 100, 10_000):
        prompts = THEOREMS[arm](mix, n).prompts[:, :-1]
        scale = abs(wanted).max() + n * abs(sx @ mix.means.T).max()
        np.testing.assert_allclose(prompts, wanted, rtol=0, atol=1e-12 * scale)
