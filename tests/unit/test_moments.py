"""Moments of the context's Gram matrix: exact, sampled and centred; by the risks and gradients that
they give."""

from __future__ import annotations

from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import assert_averages
from decoupling.problem.gaussian_moments import GaussianMoments, population_moments
from decoupling.problem.gram import GramBatch, GramSampler
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.moments import Moments, batch_moments
from decoupling.problem.one_layer import OneLayer, risk_and_gradient
from decoupling.problem.packing import packing
from decoupling.problem.streams import Stream
from mixtures import mixture, shape_name

BATCHES, SIZE = 60, 2_000
SHAPES = [(1, 2, 1, 0.5), (2, 1, 3, 0.0), (2, 2, 2, 0.3), (3, 3, 1, 0.7), (3, 2, 8, 0.0)]


def models(mix: TaskMixture) -> list[OneLayer]:
    """Random ones, of task heads and of a shared one, with prompts and without."""
    rng = np.random.default_rng([mix.dim, mix.tasks])
    dim, size, seeds = mix.dim, mix.dim + 1, 2
    return [
        OneLayer(
            rng.standard_normal((seeds, dim, size)),
            rng.standard_normal((heads, seeds, size)),
            rng.standard_normal((mix.tasks, seeds, size)) if prompted else None,
        )
        for heads in {1, mix.tasks}
        for prompted in (False, True)
    ]


def flat(moments: Moments | GaussianMoments, mix: TaskMixture) -> np.ndarray:
    """Risks and gradients, which are linear in moments."""
    parts = []
    for model in models(mix):
        value, grad = risk_and_gradient(moments, model)
        parts += [value, *(part.ravel() for part in vars(grad).values() if part is not None)]
    return np.concatenate(parts)


def literal_batch(mix: TaskMixture, n: int, count: int, seed: int) -> GramBatch:
    generator = torch.Generator().manual_seed(seed)
    return mixtures.gram_batch(literal.draw_sequences(mix, n, count, generator), mix.tasks)


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_exact_moments_against_literal_sequences(shape: tuple):
    mix, n = mixture(shape)
    groups = [flat(batch_moments(literal_batch(mix, n, SIZE, i), mix), mix) for i in range(BATCHES)]
    assert_averages(np.array(groups), flat(population_moments(mix, n), mix))


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_minibatch_moments_average_to_the_exact_ones(shape: tuple):
    mix, n = mixture(shape)
    sampler = GramSampler(mix, n, Stream.TRAINING)
    groups = [flat(batch_moments(sampler.batch(i, SIZE), mix), mix) for i in range(BATCHES)]
    assert_averages(np.array(groups), flat(population_moments(mix, n), mix))


@pytest.mark.parametrize("scale", [0.0, 0.4])
def test_scaled_means(scale: float):
    """Sampling with a mean scale is sampling from the mixture with scaled means."""
    mix, n = mixture((2, 2, 3, 0.3))
    sampler, scaled = GramSampler(mix, n, Stream.TRAINING), mix.scaled_means(scale)
    batches = [sampler.batch(i, SIZE, scale) for i in range(BATCHES)]
    groups = np.array([flat(batch_moments(batch, scaled), mix) for batch in batches])
    assert_averages(groups, flat(population_moments(scaled, n), mix))


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_batch_moments_are_the_averages_they_say(shape: tuple):
    """½E[S_ik S_jl + S_il S_jk], E[S_jl β_m], … by their definitions."""
    mix, n = mixture(shape)
    batch = literal_batch(mix, n, 30, 0)
    found = batch_moments(batch, mix)
    pack = packing(mix.dim + 1)
    power = mix.noise_var
    for k, (s, beta) in enumerate(zip(batch.grams, batch.betas, strict=True)):
        pairs = np.einsum("ikb,jlb->ijkl", s, s) + np.einsum("ilb,jkb->ijkl", s, s)
        packed = pairs[pack.rows, pack.cols][:, pack.rows, pack.cols] / (2 * batch.size)
        np.testing.assert_allclose(found.second[k], packed, rtol=1e-9)
        cross = np.einsum("jlb,mb->jml", s, beta).reshape(mix.dim + 1, -1) / batch.size
        np.testing.assert_allclose(found.cross[k], cross, rtol=1e-9)
        np.testing.assert_allclose(found.first[k], s.sum(-1) / batch.size, rtol=1e-9)
        np.testing.assert_allclose(found.beta[k], beta.sum(-1) / batch.size, rtol=1e-9)
        assert found.mass[k] == pytest.approx(beta.shape[1] / batch.size)
        power += np.trace(mix.sigma_x @ beta @ beta.T) / batch.size
    assert found.label_power == pytest.approx(power, rel=1e-12)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_centred_moments_are_moments_of_centred_quantities(shape: tuple, together: bool):
    """Of contexts less the exact means of S and β, of each task or of all."""
    mix, n = mixture(shape)
    exact = population_moments(mix, n)
    found = exact.centred_together() if together else exact.centred()
    pack = packing(mix.dim + 1)
    grams, betas = exact.gram - found.gram, exact.beta - found.beta
    assert not found.gram.any() or together
    groups = []
    for i in range(BATCHES):
        batch = literal_batch(mix, n, SIZE, i)
        shifted = GramBatch(
            [
                packed - gram[pack.rows, pack.cols][:, None]
                for packed, gram in zip(batch.packed, grams, strict=True)
            ],
            [beta - own[:, None] for beta, own in zip(batch.betas, betas, strict=True)],
        )
        groups.append(flat(batch_moments(shifted, mix), mix))
    assert_averages(np.array(groups), flat(found, mix))


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_best_readouts_leave_no_gradient(shape: tuple):
    """To about what rounding leaves, beside the gradient's terms."""
    mix, n = mixture(shape)
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((1, mix.dim, mix.dim + 1))
    for moments in (population_moments(mix, n), population_moments(mix, n).centred()):
        readouts = moments.best_readouts(scores)
        _, grad = moments.risk_and_gradient(OneLayer(scores, readouts, None))
        _, at_zero = moments.risk_and_gradient(OneLayer(scores, 0 * readouts, None))
        assert np.abs(grad.readouts).max() < 1e-9 * np.abs(at_zero.readouts).max()


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_centred_label_power_is_that_of_zero_means(shape: tuple):
    mix, n = mixture(shape)
    found = population_moments(mix, n).centred()
    zero = replace(mix, means=0 * mix.means)
    assert found.label_power == pytest.approx(zero.label_power, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_sigma_x_is_dropped_only_for_the_identity(shape: tuple):
    mix, n = mixture(shape)
    kept = population_moments(mix, n).sigma_x
    np.testing.assert_array_equal(kept, mix.sigma_x)
    identity = replace(mix, sigma_x=np.eye(mix.dim))
    assert population_moments(identity, n).sigma_x is None
