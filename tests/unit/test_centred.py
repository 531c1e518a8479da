"""One prompt for all tasks, and closed forms that are not bound by Assumption 1."""

from __future__ import annotations

from dataclasses import replace

import mixtures
import numpy as np
import pytest
from decoupling.problem.gaussian_moments import population_moments
from decoupling.problem.one_layer import OneLayer, risk_and_gradient
from decoupling.theory.optimum import optima
from decoupling.theory.theorems import CLOSED_FORMS, THEOREMS, plain
from mixtures import exact_risk
from scipy.optimize import minimize

CASES = mixtures.random_cases(30)
FORMS = {
    f"{reference} {arm}": form
    for reference, forms in CLOSED_FORMS.items()
    for arm, form in forms.items()
    if form not in THEOREMS.values()
}
REFERENCE_N = (2, 12, 50)
REFERENCE = {  # fig2a
    "theorem shared": (19.7350, 10.0757, 4.4669),
    "centred joint": (9.3964, 7.2251, 3.8619),
    "centred shared": (19.3965, 9.7991, 4.2983),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_values(name: str):
    risks = [FORMS[name](mixtures.paper("fig2a"), n).risk for n in REFERENCE_N]
    np.testing.assert_allclose(risks, REFERENCE[name], rtol=0, atol=5e-5)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("case", CASES, ids=mixtures.case_name)
def test_parameters_reach_the_risk(case, name: str):
    solution = FORMS[name](*case)
    assert exact_risk(*case, solution) == pytest.approx(solution.risk, rel=1e-10)
    assert (solution.readouts == solution.readouts[0]).all()
    if "shared" in name:
        np.testing.assert_allclose(solution.prompts, solution.prompts[:1].repeat(case[0].tasks, 0))


@pytest.mark.parametrize("reference", ["centred", "energy"])
@pytest.mark.parametrize("arm", ["joint", "shared"])
@pytest.mark.parametrize("case", CASES[:8], ids=mixtures.case_name)
def test_a_common_shift_of_the_means_changes_nothing(case, arm: str, reference: str):
    mix, n = case
    shift = np.random.default_rng(0).standard_normal(mix.dim)
    moved = replace(mix, means=mix.means + 3 * shift)
    form = CLOSED_FORMS[reference][arm]
    assert form(moved, n).risk == pytest.approx(form(mix, n).risk, rel=1e-10)
    if reference == "centred":
        assert optima(moved, n)[arm] == pytest.approx(optima(mix, n)[arm], rel=1e-7)


@pytest.mark.parametrize("case", CASES[:12], ids=mixtures.case_name)
def test_between_the_optimum_and_the_printed_theorem(case):
    best, slack = optima(*case), 1 + 1e-10
    for arm in ("joint", "shared"):
        forms = ("energy", "centred", "theorem")
        energy, centred, printed = (CLOSED_FORMS[name][arm](*case).risk for name in forms)
        assert best[arm] <= energy * slack
        assert energy <= centred * slack
        assert centred <= printed * slack
    assert best["joint"] <= best["shared"] * slack
    assert best["shared"] <= best["plain"] * slack


@pytest.mark.parametrize("name", ["fig2c", "fig2d"])
def test_without_a_common_mean_a_shared_prompt_has_nothing_to_learn(name: str):
    mix = mixtures.paper(name)
    np.testing.assert_allclose(mix.common_mean, 0, atol=1e-15)
    for reference in ("theorem", "centred"):
        found = CLOSED_FORMS[reference]["shared"](mix, 10).risk
        assert found == pytest.approx(plain(mix, 10).risk, rel=1e-12)


NOISY = [case for case in CASES if case[0].noise_var > 0]  # else E[φφᵀ] may be singular on the way


@pytest.mark.parametrize("case", NOISY[:4], ids=mixtures.case_name)
def test_search_over_the_prompt_itself_finds_the_same_optimum(case):
    """Over one readout and one prompt, A₁ at its best for each; from the closed form, moved."""
    mix, n = case
    moments, solution = population_moments(mix, n), CLOSED_FORMS["centred"]["shared"](mix, n)
    start = np.concatenate([solution.readouts[0], solution.prompts[0]])

    def objective(unknowns: np.ndarray) -> tuple[float, np.ndarray]:
        readout, prompt = np.split(unknowns, 2)
        readouts = readout[None, None]
        prompts = np.broadcast_to(prompt, (mix.tasks, 1, mix.dim + 1))
        made = moments.features(readouts, prompts)
        scores = np.linalg.solve(made.outer, made.beta.mT).mT
        value, grad = risk_and_gradient(moments, OneLayer(scores, readouts, prompts))
        return value.item(), np.concatenate([grad.readouts.ravel(), grad.prompts.sum(0).ravel()])

    best = optima(mix, n)["shared"]
    options = {"maxiter": 3000, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 30}
    rng = np.random.default_rng(1)
    found = [
        minimize(objective, start * (1 + spread), jac=True, method="L-BFGS-B", options=options).fun
        for spread in (
            0.01 * rng.standard_normal(len(start)),
            0.3 * rng.standard_normal(len(start)),
        )
    ]
    assert min(found) >= best * (1 - 1e-8)
    assert min(found) == pytest.approx(best, rel=1e-6)
