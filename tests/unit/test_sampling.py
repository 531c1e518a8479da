"""The Gram sampler: the right distribution, and batches that can be asked for again."""

from __future__ import annotations

from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import assert_same_means
from decoupling.problem.gram import GramBatch, GramSampler
from decoupling.problem.streams import Stream
from mixtures import mixture, shape_name

COUNT = 40_000
# (d, K, n, σ²); D = d + 1: n below, at and above D.
SHAPES = [(1, 2, 1, 0.5), (3, 1, 2, 0.4), (3, 2, 4, 0.0), (2, 2, 7, 0.3), (2, 1, 500, 0.3)]


def statistics(batch: GramBatch, k: int) -> np.ndarray:
    """Entries of S and β, and all their products, of every context of task k; [·, B]."""
    grams, beta = batch.grams[k].astype(float), batch.betas[k].astype(float)
    first = np.vstack([grams[np.triu_indices(len(grams))], beta])
    rows, columns = np.triu_indices(len(first))
    return np.vstack([first, first[rows] * first[columns]])


def same(one: GramBatch, other: GramBatch) -> bool:
    pairs = zip(one.grams + one.betas, other.grams + other.betas, strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_first_two_moments_match_literal_sequences(shape: tuple):
    """Two independent samples, every statistic's difference in standard errors; the largest is
    held to Bonferroni's bound for a false alarm in 10,000."""
    mix, n = mixture(shape)
    sampled = GramSampler(mix, n, Stream.TRAINING).batch(0, COUNT)
    sequences = literal.draw_sequences(mix, n, COUNT, torch.Generator().manual_seed(0))
    drawn = mixtures.gram_batch(sequences, mix.tasks)
    for k in range(mix.tasks):
        assert_same_means(statistics(sampled, k), statistics(drawn, k))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 50])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_rank_is_that_of_n_tokens(n: int, noise: float):
    """min(n, D), and one less than D where y is a linear function of x."""
    mix = mixtures.random_mixture(np.random.default_rng(0), 3, 2, noise)
    batch = GramSampler(mix, n, Stream.TRAINING).batch(0, 200)
    size = mix.dim + (noise > 0)
    for grams in batch.grams:
        assert np.array_equal(grams, grams.swapaxes(0, 1))
        eigenvalues = np.linalg.eigvalsh(grams.transpose(2, 0, 1).astype(float))
        present = eigenvalues > 1e-6 * eigenvalues[:, -1:]  # single precision
        assert present.sum(1).max() == min(n, size)


def test_task_counts_follow_the_weights():
    """Counts are multinomial: each within 4 standard errors."""
    mix = mixtures.random_mixture(np.random.default_rng(3), 2, 4, 0.1)
    sampler = GramSampler(mix, 2, Stream.TRAINING)
    counts = sum(
        np.array([beta.shape[1] for beta in sampler.batch(i, 1000).betas]) for i in range(40)
    )
    error = np.sqrt(40_000 * mix.weights * (1 - mix.weights))
    assert (np.abs(counts - 40_000 * mix.weights) < 4 * error).all()


@pytest.mark.parametrize("size", [1, 7])
def test_shapes_even_where_a_task_gets_no_context(size: int):
    mix = mixtures.random_mixture(np.random.default_rng(3), 2, 4, 0.1)
    batch = GramSampler(mix, 5, Stream.TRAINING).batch(0, size)
    assert batch.size == size
    assert len(batch.grams) == len(batch.betas) == mix.tasks
    for grams, beta in zip(batch.grams, batch.betas, strict=True):
        assert grams.shape == (3, 3, beta.shape[1])


def test_batches_do_not_depend_on_the_order_of_asking():
    mix, n = mixture(SHAPES[3])
    forward, backward = (GramSampler(mix, n, Stream.TRAINING) for _ in range(2))
    ahead = {i: forward.batch(i, 50) for i in (0, 1, 2)}
    behind = {i: backward.batch(i, 50) for i in (2, 0, 1)}
    assert all(same(ahead[i], behind[i]) for i in ahead)
    assert not same(ahead[0], ahead[1])
    assert not same(ahead[1], ahead[2])


@pytest.mark.parametrize("what", ["n", "stream", "number"])
def test_other_streams_differ(what: str):
    """Compared by β, which has the same distribution in all of them."""
    mix, n = mixture(SHAPES[3])
    other = {
        "n": (mix, n + 1, Stream.TRAINING),
        "stream": (mix, n, Stream.REPORT),
        "number": (replace(mix, noise_var=mix.noise_var + 1e-9), n, Stream.TRAINING),
    }[what]
    own = (mix, n, Stream.TRAINING)
    ours, theirs = (GramSampler(*key).batch(0, 50).betas for key in (own, other))
    assert not np.isin(ours[0], theirs[0]).any()


def test_another_name_gives_the_same_batches():
    mix, n = mixture(SHAPES[3])
    keys = ((mix, n, Stream.TRAINING), (replace(mix, name="other"), n, Stream.TRAINING))
    assert same(*(GramSampler(*key).batch(0, 50) for key in keys))
