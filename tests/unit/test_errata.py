"""docs/errata.md: what no other test has, and that the tests it names exist.

The unit example is d = K = 1 with Σx = Σ_1 = μ_1 = 1 and σ = 0, where everything is a fraction.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import mixtures
import numpy as np
import pandas as pd
import pytest
from decoupling.api import Mixture
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.gaps import RESOLUTION
from decoupling.theory.theorems import CLOSED_FORMS, THEOREMS
from mixtures import exact_risk
from task_heads import bound, rescaled

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/errata.md").read_text()
CASES = mixtures.random_cases(30)
LENGTHS = (1, 2, 10, 50)
FLOAT = 1e-12  # relative: some thousand roundings


def example(mean: float = 1) -> TaskMixture:
    return Mixture(d=1, weights=[1], means=[mean], covs=[1])


def risks(mix: TaskMixture, n: int) -> tuple[float, ...]:
    return tuple(form(mix, n).risk for form in THEOREMS.values())


def gaps(mix: TaskMixture, n: int) -> tuple[float, float]:
    """Plain − fine-tuned, fine-tuned − joint."""
    upper, middle, lower, _ = risks(mix, n)
    return upper - middle, middle - lower


def predicted_gaps(mix: TaskMixture, n: int) -> tuple[float, float]:
    """tr(ΣxWBMBW) and tr(ΣxWBM nC⁻¹ MBW) with W of Theorem 1."""
    sx, mean_outer, power = mix.sigma_x, mix.mean_outer, mix.label_power
    left = THEOREMS["plain"](mix, n).weight @ (sx + power * np.linalg.inv(mix.biased_cov))
    noise = (n + 1) * mix.debiased_cov + power * np.linalg.inv(sx) + mean_outer
    inner = mean_outer @ np.linalg.solve(noise, mean_outer)
    return tuple(np.trace(sx @ left @ middle @ left.T) for middle in (mean_outer, n * inner))


@pytest.mark.parametrize("n", LENGTHS)
def test_unit_example(n: int):
    wanted = [4 / (n + 2), 4 * (n + 1) / (n + 2) ** 2, 4 / (n + 4), 2 / (n + 2)]
    assert risks(example(), n) == pytest.approx(wanted, rel=FLOAT)
    for arm, prompt in (("finetune", 2), ("joint", 4)):
        assert THEOREMS[arm](example(), n).prompts[0, 0] == pytest.approx(prompt, rel=FLOAT * n)
    first, second = gaps(example(), n)
    assert first / second == pytest.approx((n + 4) / n, rel=FLOAT * n**2)


@pytest.mark.parametrize("mean", [0.5, 1, 20])
@pytest.mark.parametrize("n", LENGTHS)
def test_ratio_of_the_gaps_falls_only_while_means_are_large(n: int, mean: float):
    first, second = predicted_gaps(example(mean), n)
    assert first / second == pytest.approx(2 / n + (1 + 2 / n) / mean**2, rel=FLOAT * 100)
    assert gaps(example(mean), n) == pytest.approx(
        (first, second), rel=0, abs=RESOLUTION * (1 + mean**2)
    )


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_gaps_in_closed_form(case):
    """And what follows: the ratio of the gaps is above 1/λ_max(S̄⁻¹M) at every n, and above 2 at
    n = 1."""
    mix, n = case
    first, second = predicted_gaps(mix, n)
    assert gaps(mix, n) == pytest.approx((first, second), rel=0, abs=RESOLUTION * mix.label_power)
    largest = np.linalg.eigvals(np.linalg.solve(mix.debiased_cov, mix.mean_outer)).real.max()
    assert first / second >= (1 - 1e-10) / largest  # inverses: see mixtures.random_spd
    first, second = predicted_gaps(mix, 1)
    assert first > 2 * second


@pytest.mark.parametrize("case", CASES[:6], ids=mixtures.case_name)
def test_limits_of_the_gaps(case):
    """n² times each; what is left falls as 1/n, by 1/2 from n to 2n."""
    mix, _ = case
    matrix = mix.sigma_x + mix.label_power * np.linalg.inv(mix.biased_cov)
    inner = mix.mean_outer @ np.linalg.solve(mix.debiased_cov, mix.mean_outer)
    for which, middle in enumerate((mix.mean_outer, inner)):
        limit = np.trace(np.linalg.solve(mix.sigma_x, matrix @ middle @ matrix))
        near, far = (n**2 * predicted_gaps(mix, n)[which] for n in (10**6, 2 * 10**6))
        assert (limit - far) / (limit - near) == pytest.approx(1 / 2, abs=1e-3)
        assert far == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_gain_of_theorem_2_without_its_transpose(case):
    """tr(Δ(nW̄−I)²), Δ = ΣxM."""
    mix, n = case
    rest = n * mix.sigma_x @ THEOREMS["plain"](mix, n).weight - np.eye(mix.dim)
    gain = np.trace(mix.sigma_x @ mix.mean_outer @ rest @ rest)
    assert gaps(mix, n)[0] == pytest.approx(gain, rel=0, abs=RESOLUTION * mix.label_power)


def test_printed_gain_of_theorem_2_can_be_negative():
    mix = Mixture(d=2, weights=[1], means=[[4, 2]], covs=[1], sigma_x=[[1, 0], [0, 5]])
    rest = 5 * mix.sigma_x @ THEOREMS["plain"](mix, 5).weight - np.eye(2)
    printed = np.trace(mix.sigma_x @ mix.mean_outer @ rest.T @ rest)
    assert printed == pytest.approx(-29 / 96, rel=FLOAT * 100)
    tuned = THEOREMS["finetune"](mix, 5)
    assert tuned.risk == pytest.approx(exact_risk(mix, 5, tuned), rel=FLOAT * 100)
    assert gaps(mix, 5)[0] == pytest.approx(301 / 96, rel=FLOAT * 100)


def test_printed_prompts_of_theorem_3_in_two_dimensions():
    mix = Mixture(d=2, weights=[1], means=[[1, 1]], covs=[[[1, 0], [0, 4]]])
    solution = THEOREMS["joint"](mix, 1)
    printed = mix.means @ (np.linalg.inv(solution.weight) - np.eye(2))  # Σx = I, n = 1
    wrong = replace(solution, prompts=np.append(printed, [[1]], axis=1))
    np.testing.assert_allclose(solution.prompts, [[9.25, 4, 1]], rtol=FLOAT)
    np.testing.assert_allclose(printed, [[10, 3.25]], rtol=FLOAT)
    found = [exact_risk(mix, 1, tried) for tried in (solution, wrong)]
    assert found == pytest.approx([3.8931, 3.9426], abs=5e-5)


def test_prompts_that_grow_with_n_cancel_the_means():
    """−nΣxμ_k makes E[ŷ | x, k] = 0, which costs tr(ΣxM)."""
    mix, n = mixtures.paper("fig2c"), 50
    best = THEOREMS["joint"](mix, n)
    prompts = np.hstack([-n * mix.means @ mix.sigma_x, np.ones((2, 1))])
    found = exact_risk(mix, n, replace(best, prompts=prompts))
    assert found == pytest.approx(best.risk + np.trace(mix.mean_outer), rel=FLOAT * 100)
    assert found == pytest.approx(22.76, abs=0.005)
    assert risks(mix, n)[0] == pytest.approx(4.298, abs=0.0005)


def test_heads_below_theorem_4_in_one_dimension():
    mix = Mixture(d=1, weights=[0.5, 0.5], means=[0, 0], covs=[1, 4], noise_var=1)
    assert THEOREMS["joint_heads"](mix, 1).risk == pytest.approx(47 / 17, rel=FLOAT)
    solution = rescaled(mix, 1)
    reached = [bound(mix, 1), solution.risk, exact_risk(mix, 1, solution)]
    assert reached == pytest.approx([287 / 104] * 3, rel=FLOAT * 100)


def test_heads_below_theorem_4_in_the_figures():
    mix = mixtures.paper("figA1d")
    lengths = (1, 3, 5, 7, 10, 15, 20)
    below = [1 - rescaled(mix, n).risk / THEOREMS["joint_heads"](mix, n).risk for n in lengths]
    assert 100 * max(below) == pytest.approx(0.034, abs=0.0005)
    for name in ("fig2d", "figA1b"):
        mix = mixtures.paper(name)
        for n in LENGTHS:
            assert bound(mix, n) == pytest.approx(THEOREMS["joint_heads"](mix, n).risk, rel=FLOAT)


def test_trained_heads_below_theorem_4():
    """By `laptop`, as archived: at Theorem 4 in A1(b), at what rescaled heads reach in A1(d)."""
    kept = pd.read_parquet(ROOT / "data/archive/laptop.parquet")
    trained = kept[kept.setting.isin(["figA1b", "figA1d"]) & (kept.arm == "joint_heads")]
    assert len(trained) == 14
    for setting, n, found in zip(trained.setting, trained.n, trained.risk, strict=True):
        mix = mixtures.paper(setting)
        assert found == pytest.approx(rescaled(mix, n).risk, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "n", "percent"),
    [("fig2a", 1, 0.2), ("fig2a", 10, 1.5), ("fig2a", 50, 3.7), ("fig2c", 50, 0.4)],
)
def test_theorem_3_above_attention_in_figure_2(name: str, n: int, percent: float):
    """Over a risk that attention reaches, near the optimum (test_label_energy.py)."""
    mix = mixtures.paper(name)
    solution = CLOSED_FORMS["energy"]["joint"](mix, n)
    assert exact_risk(mix, n, solution) == pytest.approx(solution.risk, rel=1e-10)
    above = risks(mix, n)[2] - solution.risk
    assert 100 * above / solution.risk == pytest.approx(percent, abs=0.05)
    assert above / mix.label_power < 0.005


@pytest.mark.parametrize("mean", [1, 1000])
@pytest.mark.parametrize("n", LENGTHS)
def test_one_shared_head_decouples_a_single_task(n: int, mean: float):
    """It reaches Theorem 4; Theorem 3 is far above as the mean grows."""
    mix = example(mean)
    solution = CLOSED_FORMS["centred"]["joint"](mix, n)
    assert solution.risk == pytest.approx(2 / (n + 2), rel=FLOAT)
    scale = mix.label_power  # terms of this size cancel
    assert exact_risk(mix, n, solution) == pytest.approx(2 / (n + 2), rel=0, abs=FLOAT * scale)
    power = 2 * (1 + mean**2)
    assert risks(mix, n)[2] == pytest.approx(power / (n + power), rel=FLOAT * n)


def test_lemma_1_needs_a_symmetric_matrix():
    """E[xxᵀAxxᵀ] for x ~ N(0, I), by quadrature that is exact for polynomials of degree 5."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    points = np.array([[a, b] for a in nodes for b in nodes])
    chances = np.outer(weights, weights).ravel() / (2 * np.pi)
    matrix = np.array([[0, 1], [0, 0]])
    squares = points[:, :, None] * points[:, None]
    found = np.einsum("b,bij->ij", chances, squares @ matrix @ squares)
    np.testing.assert_allclose(found, [[0, 1], [1, 0]], atol=FLOAT)
    printed = np.trace(matrix) * np.eye(2) + 2 * matrix
    assert abs(printed - found).max() > 0.99


def test_order_in_the_expansion_of_joint_weights():
    """n²(W̄ − I/n) tends to −(I + (t̃I + Δ)Σ̄⁻¹): ΔΣ̄⁻¹, not Σ̄⁻¹Δ."""
    mix, n = mixtures.random_mixture(np.random.default_rng(5), 4, 3, 0.0), 10**6
    biased = mix.sigma_x @ mix.mean_outer
    inverse = np.linalg.inv(mix.sigma_x @ mix.debiased_cov)
    found = n * (n * mix.sigma_x @ THEOREMS["joint"](mix, n).weight - np.eye(4))
    common = np.eye(4) + mix.label_power * inverse
    assert abs(found + common + biased @ inverse).max() < 1e-3  # O(1/n)
    assert abs(found + common + inverse @ biased).max() > 0.1


def test_named_tests_exist():
    names = re.findall(r"`(test_\w+)(?:\.py)?`", PAGE)
    files = {path.stem: path.read_text() for path in (ROOT / "tests/unit").glob("test_*.py")}
    missing = [
        name
        for name in names
        if name not in files and not any(f"def {name}(" in text for text in files.values())
    ]
    assert len(names) > 10
    assert not missing
