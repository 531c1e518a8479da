"""What a further search takes off a trained seed's risk."""

from __future__ import annotations

from dataclasses import replace

import mixtures
import numpy as np
import pytest
from decoupling.models.arms import ARMS
from decoupling.models.curve import Curve
from decoupling.problem.mixture import TaskMixture
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.theory.optimum import optima
from decoupling.theory.theorems import CLOSED_FORMS
from decoupling.train.loop import train
from decoupling.train.recipe import Recipe, Run
from mixtures import MODEL_ARMS

TRAINED = [(model, arm) for model, arm in MODEL_ARMS if arm != "zero_prompt"]  # linear: none
LONG = Recipe(iterations=4000, lr=0.01, schedule="cosine", prompt_lr_factor=10, standard_units=True)
SHORT = replace(LONG, iterations=40)
DEEP = Recipe(iterations=2, batch_size=8, test_contexts=64)
N = 5


def rows_of(mix: TaskMixture, model: str, arm: str, recipe: Recipe, layers: int = 1) -> list[dict]:
    """Of three seeds."""
    module = model if layers == 1 else "deep_attention"
    arms = dict.fromkeys(["plain", arm])
    runs = [
        Run(Curve(mix.name, module, model, layers, a, ARMS[a].trains), recipe, reported=a == arm)
        for a in arms
    ]
    return train(GaussianContexts(mix, N), runs, range(3)).rows


@pytest.fixture
def mix() -> TaskMixture:
    return mixtures.random_mixture(np.random.default_rng(3), 3, 2, 0.5)


def best_of(rows: list[dict]) -> dict:
    """The best seed, which alone has the column."""
    best = min(rows, key=lambda row: row["risk"])
    assert all(np.isnan(row["descent_left"]) for row in rows if row is not best)
    return best


@pytest.mark.parametrize(("model", "arm"), TRAINED)
def test_a_finished_training_has_nothing_left(mix: TaskMixture, model: str, arm: str):
    assert best_of(rows_of(mix, model, arm, LONG))["descent_left"] < 1e-4


@pytest.mark.parametrize(("model", "arm"), TRAINED)
def test_an_unfinished_one_has_and_no_more_than_there_is(mix: TaskMixture, model: str, arm: str):
    """Against the least risk of the arm; fine-tuning's frozen weights are not at theirs."""
    best = best_of(rows_of(mix, model, arm, SHORT))
    assert best["descent_left"] > 0.005
    if ARMS[arm].trains.weights:
        theorem = CLOSED_FORMS["theorem"]
        least = theorem[arm](mix, N).risk if model == "reduced" else optima(mix, N)[arm]
        assert best["risk"] * (1 - best["descent_left"]) > least * (1 - 1e-9)


def test_estimated_risks_do_not_say(mix: TaskMixture):
    rows = rows_of(mix, "attention", "joint", DEEP, layers=2)
    assert all(np.isnan(row["descent_left"]) for row in rows)
