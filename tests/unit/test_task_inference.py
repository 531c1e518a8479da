"""When the task is not told: the posterior by brute force, and what predictors make of it."""

from __future__ import annotations

from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import z_score
from decoupling.problem.mixture import TaskMixture
from decoupling.theory import task_inference
from decoupling.theory.bayes import bayes_table
from decoupling.theory.task_inference import conditional_risks, draw_contexts, observe
from scipy.stats import multivariate_normal

MIX = mixtures.random_mixture(np.random.default_rng(3), 2, 3, 0.5)
NODES = np.linspace(-8, 8, 401)  # standard deviations of the prior; fine against the likelihood
WEIGHTS = np.exp(-0.5 * NODES**2)


def drawn(mix: TaskMixture, n: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    sequences = literal.draw_sequences(mix, n, count, torch.Generator().manual_seed(4))
    return sequences.x[:, :-1].numpy(), sequences.y[:, :-1].numpy()


def reduced(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and t of sequences: XᵀX = RRᵀ and Xᵀy = Rt."""
    if x.shape[1] < x.shape[2]:
        return x.mT, y
    root = np.linalg.cholesky(x.mT @ x)
    return root, np.linalg.solve(root, x.mT @ y[..., None])[..., 0]


def brute_force(mix: TaskMixture, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(k | x, y) and E[β | x, y, k] of one sequence, by quadrature over β in two dimensions."""
    grid = np.stack(np.meshgrid(NODES, NODES, indexing="ij"), -1).reshape(-1, 2)
    area = np.outer(WEIGHTS, WEIGHTS).ravel()
    evidence, means = [], []
    for weight, mean, cov in zip(mix.weights, mix.means, mix.covs, strict=True):
        beta = mean + grid @ np.linalg.cholesky(cov).T
        errors = y - beta @ x.T
        density = area * np.exp(-0.5 * (errors**2).sum(1) / mix.noise_var)
        evidence.append(weight * density.sum())
        means.append(density @ beta / density.sum())
    return np.array(evidence) / sum(evidence), np.array(means)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_posterior_against_quadrature_on_sequences(n: int):
    x, y = drawn(MIX, n, 6)
    found = observe(MIX, *reduced(x, y))
    for i in range(len(x)):
        task, mean = brute_force(MIX, x[i], y[i])
        np.testing.assert_allclose(found.task[i], task, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.mean[i], mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.gram, x.mT @ x, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.cross, (x.mT @ y[..., None])[..., 0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_noise_it_is_the_limit(n: int):
    """As little noise goes to none; and for n ≤ d it is y's own density, from another library."""
    clean, faint = replace(MIX, noise_var=0.0), replace(MIX, noise_var=1e-9)
    x, y = drawn(clean, n, 8)
    found = observe(clean, *reduced(x, y))
    np.testing.assert_allclose(found.task, observe(faint, *reduced(x, y)).task, atol=1e-4)
    if n <= clean.dim:
        for i in range(len(x)):
            density = [
                weight * multivariate_normal.pdf(y[i], x[i] @ mean, x[i] @ cov @ x[i].T)
                for weight, mean, cov in zip(clean.weights, clean.means, clean.covs, strict=True)
            ]
            np.testing.assert_allclose(found.task[i], density / np.sum(density), rtol=1e-7)


@pytest.mark.parametrize("n", [1, 4, 30])
@pytest.mark.parametrize("name", ["fig2c", "figA1d", "random"])
def test_told_the_task_the_closed_forms_reach_their_risk(name: str, n: int):
    """Within 4 standard errors; Bayes as simulated elsewhere, with other contexts."""
    mix = MIX if name == "random" else mixtures.paper(name)
    contexts = draw_contexts(mix, n)
    risks = conditional_risks(mix, n, contexts)
    for told, forms in (("nothing", task_inference.UNTOLD), ("right", task_inference.TOLD)):
        for arm, form in forms.items():
            assert abs(z_score(risks[arm, told], form(mix, n).risk)) < 4
    (best,) = bayes_table(mix, [n])
    mean, error = task_inference._average(risks["bayes", "right"])
    assert abs(mean - best["risk"]) <= 4 * (error**2 + best["risk_se"] ** 2) ** 0.5 + 1e-12


def test_predictions_against_literal_attention():
    """Of the closed forms' parameters on the same sequences, whichever task they are told."""
    n = 5
    x, y = drawn(MIX, n, 10)
    found = observe(MIX, *reduced(x, y))
    for arm in ("joint", "joint_heads"):
        solution = task_inference.TOLD[arm](MIX, n)
        vectors = task_inference.predictors(solution, found)
        scores = np.pad(solution.weight, ((0, 1), (0, 1)))
        for k in range(MIX.tasks):
            params = {
                "query": torch.tensor(scores)[None],
                "key": torch.eye(3, dtype=torch.float64)[None],
                "value": torch.eye(3, dtype=torch.float64)[None],
                "prompts": torch.tensor(solution.prompts),
                "heads": torch.tensor(solution.readouts),
            }
            pad = torch.zeros(10, 1, 2, dtype=torch.float64)
            sequences = literal.Sequences(
                torch.full((10,), k),
                torch.zeros(10, 2, dtype=torch.float64),
                torch.cat([torch.tensor(x), pad], 1),
                torch.cat([torch.tensor(y), pad[..., 0]], 1),
            )
            expected = literal.predictors(params, sequences)
            np.testing.assert_allclose(vectors[:, k], expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [1, 3, 10, 50])
@pytest.mark.parametrize("name", ["fig2c", "figA1b", "fig2d"])
def test_order_of_what_is_told(name: str, n: int):
    """Only Bayes has to be better when it is told. Of attention, the mean of two tasks' predictions
    can be better than the right one's: its prompt pulls as hard where the context speaks against
    it."""
    mix = mixtures.paper(name)
    rows = task_inference.identity_table(mix, [n])
    risk = {(row["arm"], row["told"]): row["risk"] for row in rows}
    rounding = 1e-12 * mix.label_power  # without noise Bayes ends at 0, as a difference of E[y²]s
    assert all(value >= 0 for value in risk.values())
    assert risk["bayes", "right"] <= risk["bayes", "soft"] + rounding
    assert risk["bayes", "soft"] <= risk["bayes", "map"] + rounding
    assert risk["bayes", "right"] <= risk["joint_heads", "right"] + rounding
    for arm in ("joint", "joint_heads"):
        assert risk["bayes", "soft"] <= risk[arm, "soft"] + rounding
        if n >= mix.dim:
            assert risk[arm, "soft"] < risk["plain", "nothing"]
        if name == "fig2c":
            assert risk[arm, "wrong"] > risk["plain", "nothing"]


@pytest.mark.parametrize("n", [1, 10])
def test_told_otherwise_is_told_right_and_a_paired_difference(n: int):
    mix = mixtures.paper("fig2d")
    rows = {(row["arm"], row["told"]): row for row in task_inference.identity_table(mix, [n])}
    given = conditional_risks(mix, n, draw_contexts(mix, n))
    gap = given["joint", "map"] - given["joint", "right"]
    right, told = rows["joint", "right"], rows["joint", "map"]
    assert right["risk_se"] == 0
    assert told["risk"] - right["risk"] == pytest.approx(gap.mean(), rel=1e-9)
    assert told["risk_se"] == pytest.approx(gap.std(ddof=1) / len(gap) ** 0.5, rel=1e-9)


def test_told_wrong_in_fig2c():
    """Reference: 25.7 against plain's 4.30 at n = 50."""
    rows = task_inference.identity_table(mixtures.paper("fig2c"), [50])
    wrong = next(row for row in rows if (row["arm"], row["told"]) == ("joint", "wrong"))
    assert abs(wrong["risk"] - 25.7) < 4 * wrong["risk_se"] + 0.05


def test_posterior_is_calibrated():
    """The likeliest task is wrong as often as the posterior says: fig2d at n = 3, by the tasks that
    the contexts were really drawn from."""
    mix, n, count = mixtures.paper("fig2d"), 3, 20_000
    sequences = literal.draw_sequences(mix, n, count, torch.Generator().manual_seed(9))
    found = observe(mix, *reduced(sequences.x[:, :-1].numpy(), sequences.y[:, :-1].numpy()))
    missed = found.task.argmax(1) != sequences.task.numpy()
    assert abs(z_score(missed - (1 - found.task.max(1)), 0)) < 4


def test_one_task_is_never_told_wrong():
    mix = mixtures.random_mixture(np.random.default_rng(0), 3, 1, 0.2)
    rows = task_inference.identity_table(mix, [2])
    assert "wrong" not in {row["told"] for row in rows}
    assert {row["wrong"] for row in rows} == {0.0}
