"""Random streams stay what they are: kept results are made of these numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from decoupling import models
from decoupling.models.arms import ARMS
from decoupling.problem.gram import GramBatch, GramSampler
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.sequences import draw_sequences
from decoupling.problem.streams import Stream, generator
from decoupling.theory.bayes import conditional_risks

MIX = TaskMixture(
    "any",
    np.array([0.25, 0.75]),
    np.array([[1.0, -2.0], [0.5, 0.0]]),
    np.array([np.eye(2), np.diag([2.0, 0.5])]),
    np.diag([1.0, 4.0]),
    0.5,
)
N = 3
FIRST = {  # of 8 contexts: how many are of each task; of task 2's first one, β and S's last row
    Stream.TRAINING: ([2, 6], [-0.3800978, 0.7762169], [0.6708100, 30.5702114, 25.6608143]),
    Stream.FINE_TUNING: ([1, 7], [-1.4372146, -1.0425659], [-11.7453775, -29.3251972, 56.5357857]),
    Stream.SELECTION: ([2, 6], [-1.6531126, 0.6724769], [-3.1563089, -0.9029663, 4.5087132]),
    Stream.REPORT: ([5, 3], [-0.2316260, 0.5189144], [-0.0761085, -0.4047058, 1.2064453]),
    Stream.BAYES: ([1, 7], [1.0639076, 0.8815607], [6.9390020, 5.4329915, 13.6444721]),
    Stream.IDENTITY: ([2, 6], [0.9530561, -1.2549829], [-0.4218358, -2.1318767, 2.3171506]),
    Stream.DESIGN: ([2, 6], [0.003543526, -0.7205312], [0.030283155, -4.8247957, 7.0528121]),
}


FIRST_TOKEN, FIRST_TARGET = (
    [2.2012193, 1.2965505, -1.4781166],
    -0.80095291,
)  # of task 2's first context


def first_batch(stream: Stream, mix: TaskMixture = MIX) -> GramBatch:
    return GramSampler(mix, N, stream).batch(0, 8)


def test_numbers_of_the_streams():
    assert {stream.name: stream.value for stream in Stream} == {
        "TRAINING": 1, "FINE_TUNING": 2, "SELECTION": 3, "REPORT": 4, "BAYES": 5, "IDENTITY": 6,
        "DESIGN": 8,
    }  # fmt: skip


@pytest.mark.parametrize("stream", Stream, ids=lambda stream: stream.name)
def test_first_batch(stream: Stream):
    counts, beta, labels = FIRST[stream]
    batch = first_batch(stream)
    assert [task.shape[1] for task in batch.betas] == counts
    np.testing.assert_allclose(batch.betas[1][:, 0], beta, rtol=1e-6)
    np.testing.assert_allclose(batch.grams[1][-1, :, 0], labels, rtol=1e-6)


def test_first_sequences():
    """The tasks are those of the Gram matrices; the numbers are drawn in another order."""
    batch = draw_sequences(MIX, N, Stream.TRAINING, 0, 8)
    assert [len(target) for target in batch.targets] == FIRST[Stream.TRAINING][0]
    np.testing.assert_allclose(batch.tokens[1][0, :, 0], FIRST_TOKEN, rtol=1e-6)
    np.testing.assert_allclose(batch.targets[1][0], FIRST_TARGET, rtol=1e-6)


def test_first_bayes_risks():
    expected = [2.001196934514504, 2.659604551307344, 1.2398123676861736]
    np.testing.assert_allclose(conditional_risks(MIX, N)[:3], expected, rtol=1e-12)


def test_first_initial_values():
    """Of seeds 0 and 7."""
    expected = {
        "query": [-0.005353482200305627, -0.09400486557949174],
        "key": [0.1423212179262436, 0.11733689578287479],
        "value": [0.08232836454129014, 0.020844680045220207],
        "prompts": [0.18548967694434074, 0.020827798215361102],
        "weight": [0.03280725407803913, 0.12494568026520421],
    }
    for module in ("attention", "reduced"):
        model = models.load(module)(MIX.dim, MIX.tasks)
        values = model.initial_values(ARMS["joint"].trains, [0, 7], 0.1)
        for name, array in values.items():
            np.testing.assert_allclose(array.reshape(2, -1)[:, 0], expected[name], rtol=1e-14)


@pytest.mark.parametrize(("one", "other"), list(combinations(Stream, 2)), ids=lambda s: s.name)
def test_streams_differ(one: Stream, other: Stream):
    ours, theirs = (np.concatenate(first_batch(stream).betas, axis=1) for stream in (one, other))
    assert not np.isin(ours, theirs).any()


@pytest.mark.parametrize("stream", Stream, ids=lambda stream: stream.name)
def test_names_do_not_matter(stream: Stream):
    ours, theirs = first_batch(stream), first_batch(stream, replace(MIX, name="other"))
    for one, other in zip(ours.betas + ours.grams, theirs.betas + theirs.grams, strict=True):
        np.testing.assert_array_equal(one, other)


def test_batches_and_lengths_differ():
    keys = [(n, index) for n in (3, 4) for index in (0, 1)]
    draws = [generator(MIX, n, Stream.TRAINING, index).random(4) for n, index in keys]
    assert len(np.unique(draws)) == 16
