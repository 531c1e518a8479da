"""Comparisons of random averages, with a stated chance of a false alarm."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

FALSE_ALARM = 1e-4  # of one comparison, over all of its entries together


def z_score(samples: np.ndarray, expected: float) -> float:
    """How many standard errors the samples' mean is from `expected`."""
    return (samples.mean() - expected) / (samples.std(ddof=1) / len(samples) ** 0.5)


def assert_same_means(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Of every statistic (first axis) in two independent samples: the largest difference in
    standard errors is held to Bonferroni's bound."""
    variance = ours.var(1) / ours.shape[1] + theirs.var(1) / theirs.shape[1]
    score = np.abs(ours.mean(1) - theirs.mean(1)) / np.sqrt(variance)
    assert score.max() < norm.isf(FALSE_ALARM / 2 / len(score))


def assert_averages(groups: np.ndarray, expected: np.ndarray) -> None:
    """Every entry's mean over `groups` (first axis: independent batches) is `expected`.

    The largest t statistic is held to Bonferroni's bound for all entries at once.
    """
    mean = groups.mean(0)
    error = groups.std(0, ddof=1) / len(groups) ** 0.5
    constant = error <= 1e-12 * np.maximum(1, np.abs(mean))
    np.testing.assert_allclose(mean[constant], expected[constant], rtol=1e-6, atol=1e-12)
    score = np.abs(mean - expected)[~constant] / error[~constant]
    limit = student.ppf(1 - FALSE_ALARM / 2 / max(score.size, 1), len(groups) - 1)
    assert score.max(initial=0) < limit, f"{score.max():.1f} standard errors off"


def assert_threads_change_no_bit(engine_class, contexts, model, batch, params, threads) -> None:
    """Nor do blocks of seeds, in risks and gradients."""

    def found(engine, seeds: slice) -> list[np.ndarray]:
        chosen = {name: array[seeds] for name, array in params.items()}
        out = {name: np.empty_like(array) for name, array in chosen.items()}
        return [engine.risk_and_gradient(model, batch, chosen, out), *out.values()]

    whole = found(engine_class(contexts), slice(None))
    for part in (slice(None), slice(1, 2)):
        again = found(engine_class(contexts, "cpu", threads), part)
        assert all(np.array_equal(x[part], y) for x, y in zip(whole, again, strict=True))


def assert_a_diverged_seed_is_alone(engine, model, batch, params, values) -> None:
    """Seed 1 diverges with any of these values in its queries; the other seeds are as before."""
    found = []
    for value in (params["query"][1, 0, 0, 0], *values):
        params["query"][1, 0, 0, 0] = value
        out = {name: np.empty_like(array) for name, array in params.items()}
        found.append([engine.risk_and_gradient(model, batch, params, out), *out.values()])
    assert not np.isfinite([risks[1] for risks, *_ in found[1:]]).any()
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert np.array_equal(one[[0, 2]], two[[0, 2]])
