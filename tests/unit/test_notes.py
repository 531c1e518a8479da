"""The small print of figures: what the protocol was."""

from __future__ import annotations

from copy import deepcopy

import pytest
import yaml
from configs import read

RECIPE = {"gradient": 64, "iterations": 10, "lr": 0.1, "race": [0.5], "race_group": 2}
CONFIG = yaml.safe_load("""
protocol: p
protocols: {p: {seeds: 2, seeds_per_job: 2}}
settings:
  x: {d: 2, weights: [1], means: [0], covs: [1], n: [1], models: [softmax],
    arms: [plain, finetune, joint]}
""")


def small_print(raw: dict) -> str:
    config = read(raw)
    return config.figures["x"].note(config)


@pytest.mark.parametrize(
    ("arms", "seeds"),
    [
        ({}, "best of 2 seeds that race,"),
        ({"plain": {"race": []}}, "best of 2 seeds that race (not finetune, plain),"),
        ({"plain": {"race": []}, "joint": {"race": []}}, "best of 2 seeds,"),
    ],
)
def test_a_figure_says_which_arms_do_not_race(arms: dict, seeds: str):
    raw = deepcopy(CONFIG)
    raw["protocols"]["p"]["softmax"] = RECIPE | {"arms": arms}
    note = small_print(raw)
    assert note == f"Protocol p: {seeds} batches of 64, 10 iterations"


def test_a_figure_of_fine_tuning_alone_says_that_its_seeds_do_not_race():
    raw = deepcopy(CONFIG)
    raw["settings"]["x"]["arms"] = ["finetune", "joint"]
    raw["protocols"]["p"]["softmax"] = RECIPE | {"arms": {"plain": {"race": []}}}
    assert "best of 2 seeds that race (not finetune)," in small_print(raw)
