"""Contexts drawn widely: the same distribution once they are weighted, and errors to believe."""

from __future__ import annotations

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import assert_same_means
from decoupling.engines.gram import CompiledEngine
from decoupling.kernels.spectrum import spectrum
from decoupling.problem import importance
from decoupling.problem.gram import GramBatch, GramSampler
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.streams import Stream
from decoupling.problem.wishart import wishart_factor
from decoupling.sources.gaussian.contexts import GaussianContexts
from mixtures import mixture, shape_name
from scipy.stats import norm

# (d, K, n, σ²); n below, at and above d.
SHAPES = [(1, 2, 1, 0.5), (1, 1, 3, 0.0), (3, 2, 2, 0.4), (3, 1, 3, 0.0), (2, 2, 7, 0.3)]
COUNT = 100_000


def factors(n: int, dim: int, count: int) -> np.ndarray:
    """[columns, D, count]"""
    found = wishart_factor(np.random.default_rng([n, dim]), n, dim + 1, count)
    return np.float32(found[:, :, : min(n, dim)].transpose(2, 1, 0))


@pytest.mark.parametrize("count", [1, 63, 64, 1000])
@pytest.mark.parametrize(("n", "dim"), [(1, 1), (1, 4), (5, 1), (3, 10), (10, 10), (20, 10)])
def test_spectrum_is_lapacks(n: int, dim: int, count: int):
    """In single precision; the leading column as far as its eigenvalue is apart."""
    factor = factors(n, dim, count)
    top, others, leading = spectrum(factor)
    x = factor[:, :-1].astype(float)
    values, vectors = np.linalg.eigh(np.einsum("mib,oib->bmo", x, x))
    np.testing.assert_allclose(top, values[:, -1], rtol=1e-5)
    assert (np.abs(np.sort(others, axis=0) - values[:, :-1].T) < 1e-5 * top).all()
    expected = np.einsum("bm,mib->ib", vectors[:, :, -1], factor)
    expected *= np.sign((expected * leading).sum(0))
    gap = (top - others.max(0)) / top if len(others) else np.ones(count)
    assert (np.abs(leading - expected).max(0) < 1e-5 * np.sqrt(top) * (1 + 1 / gap)).all()


@pytest.mark.parametrize(("n", "dim"), [(5, 24), (12, 30), (64, 32), (200, 100)])
def test_spectrum_of_large_matrices(n: int, dim: int):
    """Every rotation rounds each of `columns` columns once a sweep: by 6e-8 times as many steps."""
    factor = factors(n, dim, 50)
    top, others, leading = spectrum(factor)
    x = factor[:, :-1].astype(float)
    values = np.linalg.eigvalsh(np.einsum("mib,oib->bmo", x, x))
    close = 1e-5 + 3e-7 * len(factor)
    np.testing.assert_allclose(top, values[:, -1], rtol=close)
    assert (np.abs(np.sort(others, axis=0) - values[:, :-1].T) < close * top).all()
    np.testing.assert_allclose((leading[:-1] ** 2).sum(0), top, rtol=close)
    image = np.einsum("mib,ib->mb", x, leading[:-1])  # an eigenvector: xᵀx u = λu
    again = np.einsum("mib,mb->ib", x, image)
    assert (np.abs(again - top * leading[:-1]).max(0) < 10 * close * top**1.5).all()


def log_density(values: np.ndarray, n: int, dim: int) -> np.ndarray:
    """Of ordered eigenvalues, [p, count], up to a constant."""
    p = len(values)
    found = ((abs(n - dim) - 1) / 2 * np.log(values) - values / 2).sum(0)
    for i in range(p):
        for j in range(i + 1, p):
            found += np.log(values[i] - values[j])
    return found


@pytest.mark.parametrize(("n", "dim"), [(1, 1), (1, 4), (5, 1), (3, 10), (10, 10), (20, 10)])
def test_ratios_of_densities(n: int, dim: int):
    """Against the whole densities, where the largest eigenvalue remains the largest."""
    p = min(n, dim)
    rng = np.random.default_rng([n, dim])
    values = -np.sort(-rng.uniform(0.1, 60, (p, 400)), axis=0)
    values[0] += rng.uniform(0, 120, 400)
    found = importance._density_ratios(n, dim, values[0], values[1:])
    below = values[1] if p > 1 else np.zeros(400)
    for ratio, shift in zip(found, importance.SHIFTS, strict=True):
        moved = values.copy()
        moved[0] -= shift
        inside = moved[0] > below
        assert inside.sum() > 0
        assert (ratio[~inside] == 0).all()
        expected = log_density(moved[:, inside], n, dim) - log_density(values[:, inside], n, dim)
        np.testing.assert_allclose(np.log(ratio[inside]), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("n", "dim"), [(1, 1), (3, 3), (5, 2)])
def test_an_eigenvalue_that_is_a_shift(n: int, dim: int):
    """λ₁ − t = 0 is not the largest, and no case to warn of."""
    others = np.full((min(n, dim) - 1, 1), 0.5)
    found = importance._density_ratios(n, dim, np.array([20.0]), others)
    assert list(found[:, 0] > 0) == [shift < 20 for shift in importance.SHIFTS]


def test_ratios_of_beta():
    z = np.random.default_rng(0).standard_normal((4, 100))
    scale = importance.variance_factor(4) ** 0.5
    expected = norm.logpdf(z, scale=scale).sum(0) - norm.logpdf(z).sum(0)
    np.testing.assert_allclose(np.log(importance._beta_ratios(z)), expected, rtol=1e-10)


def statistics(batch: GramBatch, k: int) -> np.ndarray:
    """Entries of S and β, and all their products, of every context of task k, weighted; 1 comes
    first. [·, B]"""
    grams, beta = batch.grams[k].astype(float), batch.betas[k].astype(float)
    one = np.ones((1, beta.shape[1]))
    first = np.vstack([one, grams[np.triu_indices(len(grams))], beta])
    rows, columns = np.triu_indices(len(first))
    found = first[rows] * first[columns]
    return found if batch.weights is None else found * batch.weights[k]


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_weighted_moments_match_literal_sequences(shape: tuple):
    """Every statistic's difference in standard errors, the largest held to Bonferroni's bound."""
    mix, n = mixture(shape)
    sampled = GramSampler(mix, n, Stream.TRAINING).batch(0, COUNT, importance=True)
    sequences = literal.draw_sequences(mix, n, COUNT, torch.Generator().manual_seed(0))
    drawn = mixtures.gram_batch(sequences, mix.tasks)
    for k in range(mix.tasks):
        assert_same_means(statistics(sampled, k), statistics(drawn, k))


def test_a_share_of_the_contexts_is_moved():
    """By the shifts and lengths that are stated; a moved Gram matrix is one of n tokens."""
    mix = mixtures.random_mixture(np.random.default_rng(3), 4, 1, 0.5)
    mix = TaskMixture("white", mix.weights, mix.means, mix.covs, np.eye(4), 0.5)
    batch = GramSampler(mix, 2, Stream.TRAINING).batch(0, 20_000, importance=True)
    (grams,) = (gram.astype(float).transpose(2, 0, 1) for gram in batch.grams)
    values = np.linalg.eigvalsh(grams)
    assert (np.abs(values[:, :-2]) < 1e-4 * values[:, -1:]).all()
    assert (values[:, -2] > -1e-4 * values[:, -1]).all()
    tops = np.linalg.eigvalsh(grams[:, :-1, :-1])[:, -1]
    # λ₁ is below 50 but for one in 10⁸, and above the shift
    least = (
        importance.SHARE * sum(shift >= 50 for shift in importance.SHIFTS) / len(importance.SHIFTS)
    )
    assert least - 0.02 < (tops > 50).mean() < importance.SHARE
    assert batch.weights[0].max() <= 1 / (1 - importance.SHARE) + 1e-6


def test_contexts_that_a_million_draws_do_not_have_are_estimated():
    """E[λ₁^20] for d = 1, where λ₁ is χ²_n: ordinary draws of this number miss most of it."""
    n, power = 10, 20
    mix = TaskMixture("one", [1.0], np.zeros((1, 1)), np.ones((1, 1, 1)), np.eye(1), 0.0)
    exact = np.prod([n + 2.0 * i for i in range(power)])
    found = {}
    for is_importance in (False, True):
        batch = GramSampler(mix, n, Stream.TRAINING).batch(0, 200_000, importance=is_importance)
        values = batch.grams[0][0, 0].astype(float) ** power
        values *= batch.weights[0] if is_importance else 1
        found[is_importance] = values.mean() / exact, values.std() / len(values) ** 0.5 / exact
    mean, error = found[True]
    assert abs(mean - 1) < 4 * error
    assert error < 0.02
    assert abs(found[False][0] - 1) > 10 * error


def test_engines_weight_the_contexts():
    """Means of errors are the literal risk."""
    mix, n = mixture((3, 2, 2, 0.4))
    model, arrays = mixtures.random_parameters(mix, "deep_attention", "joint", range(2), 2, 0.09)
    engine = CompiledEngine(GaussianContexts(mix, n))
    params = {name: engine.from_numpy(array) for name, array in arrays.items()}
    found = engine.errors(model, params, engine.held_out(Stream.REPORT, 0, COUNT))
    sequences = literal.draw_sequences(mix, n, COUNT, torch.Generator().manual_seed(1))
    for seed in range(2):
        own = {name: torch.from_numpy(array[seed]) for name, array in arrays.items()}
        literal_errors = mixtures.literal_risk(own, sequences, mix).numpy() - mix.noise_var
        spread = np.hypot(found[seed].std(), literal_errors.std()) / COUNT**0.5
        assert abs(found[seed].mean() - literal_errors.mean()) < 4 * spread
