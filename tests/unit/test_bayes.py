"""The Bayes-optimal predictor: against literal squared errors, closed forms and every model."""

from __future__ import annotations

from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling.problem.mixture import TaskMixture
from decoupling.theory.bayes import bayes_table, conditional_risks
from decoupling.theory.optimum import optima
from mixtures import mixture
from scipy.integrate import quad
from scipy.stats import chi2

LIMIT = 4  # standard errors: a false alarm in 16,000
SEQUENCES = 40_000
# (d, K, n, σ²); n below, at and above d, with and without noise.
SHAPES = [(1, 2, 1, 0.5), (4, 2, 2, 0.0), (4, 3, 2, 0.7), (3, 2, 3, 0.4), (3, 1, 8, 1e-3)]


def estimate(mix: TaskMixture, n: int) -> tuple[float, float]:
    (row,) = bayes_table(mix, [n])
    return row["risk"], row["risk_se"]


def posterior_errors(mix: TaskMixture, n: int) -> np.ndarray:
    """(ŷ − y)² of the posterior mean on literal sequences,
    ŷ = xᵀ(μ + ΣXᵀ(XΣXᵀ + σ²I)⁺(y − Xμ))."""
    drawn = literal.draw_sequences(mix, n, SEQUENCES, torch.Generator().manual_seed(0))
    x, y, task = drawn.x.numpy(), drawn.y.numpy(), drawn.task.numpy()
    context, mean, cov = x[:, :-1], mix.means[task], mix.covs[task]
    cross = context @ cov
    inverse = np.linalg.pinv(cross @ context.mT + mix.noise_var * np.eye(n), hermitian=True)
    residual = y[:, :-1, None] - context @ mean[..., None]
    beta = mean + (cross.mT @ inverse @ residual)[..., 0]
    return ((x[:, -1] * beta).sum(1) - y[:, -1]) ** 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_literal_squared_errors_have_the_same_mean(shape: tuple):
    mix, n = mixture(shape)
    risk, error = estimate(mix, n)
    literal_errors = posterior_errors(mix, n)
    literal_error = literal_errors.std() / SEQUENCES**0.5
    assert abs(risk - literal_errors.mean()) < LIMIT * np.hypot(error, literal_error)
    assert error < literal_error  # y and β are integrated out


@pytest.mark.parametrize("n", [1, 3, 7, 10, 50])
def test_without_noise_unseen_directions_remain(n: int):
    """Σx = Σ = I: risk d − n, and 0 once n ≥ d, in every draw."""
    mix = mixtures.paper("fig2c")
    np.testing.assert_allclose(conditional_risks(mix, n), max(mix.dim - n, 0), atol=1e-12)


@pytest.mark.parametrize(("n", "noise"), [(1, 0.3), (4, 2.0), (30, 0.01)])
def test_one_dimension_by_quadrature(n: int, noise: float):
    """σ² + E[s σ²/(σ² + s g)] with g/Σx ~ χ²_n."""
    mix = mixtures.random_mixture(np.random.default_rng(n), 1, 2, noise)
    power = mix.sigma_x.item()

    def integrand(g: float, cov: float) -> float:
        return power * cov * noise / (noise + cov * power * g) * chi2.pdf(g, n)

    parts = [quad(integrand, 0, np.inf, args=(cov.item(),))[0] for cov in mix.covs]
    risk, error = estimate(mix, n)
    assert abs(risk - (noise + mix.weights @ parts)) < LIMIT * error


def test_noise_without_end_leaves_the_prior():
    mix = replace(mixtures.paper("figA1d"), noise_var=1e9)
    risk, _ = estimate(mix, 20)
    prior = mix.noise_var + np.trace(mix.debiased_cov)
    assert risk == pytest.approx(prior, rel=1e-12)


def test_little_noise_is_near_none():
    clean = mixtures.paper("figA2a")
    risk, error = estimate(clean, 5)
    noisy_risk, noisy_error = estimate(replace(clean, noise_var=1e-12), 5)
    assert abs(risk - noisy_risk) < LIMIT * np.hypot(error, noisy_error)


@pytest.mark.parametrize(
    ("name", "n"), [("fig2c", 1), ("fig2d", 10), ("figA1d", 7), ("figA2d", 50)]
)
def test_no_model_is_better(name: str, n: int):
    mix = mixtures.paper(name)
    risk, error = estimate(mix, n)
    assert risk - LIMIT * error < min(optima(mix, n).values())


def test_same_numbers_again_and_others_elsewhere():
    """Means do not enter the risk, but are another mixture; a name is not."""
    mix = mixtures.paper("figA1b")
    first = conditional_risks(mix, 3)
    np.testing.assert_array_equal(first, conditional_risks(mix, 3))
    np.testing.assert_array_equal(first, conditional_risks(replace(mix, name="other"), 3))
    assert not np.isin(first, conditional_risks(mix.scaled_means(2), 3)).any()


def test_rows_in_order_and_normalized():
    mix = mixtures.paper("figA1b")
    rows = bayes_table(mix, [20, 5])
    assert [(row["setting"], row["n"]) for row in rows] == [("figA1b", 20), ("figA1b", 5)]
    for row in rows:
        assert row["normalized"] == pytest.approx(row["risk"] / mix.label_power, rel=1e-15)
        assert row["normalized_se"] == pytest.approx(row["risk_se"] / mix.label_power, rel=1e-15)
