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
