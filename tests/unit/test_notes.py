"""The small print of figures: what the protocol was."""

from __future__ import annotations

from copy import deepcopy

import pandas as pd
import pytest
import yaml
from configs import read
from decoupling.figures.describe import shortfall

RECIPE = {"batch_size": 64, "iterations": 10, "lr": 0.1, "halve_at": [0.5], "halving_group": 2}
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
        ({}, "best of 2 seeds by halving,"),
        ({"plain": {"halve_at": []}}, "best of 2 seeds by halving (not finetune, plain),"),
        ({"plain": {"halve_at": []}, "joint": {"halve_at": []}}, "best of 2 seeds,"),
    ],
)
def test_a_figure_says_which_arms_are_not_halved(arms: dict, seeds: str):
    raw = deepcopy(CONFIG)
    raw["protocols"]["p"]["softmax"] = RECIPE | {"arms": arms}
    note = small_print(raw)
    assert note == f"Protocol p: {seeds} batches of 64, 10 iterations"


def test_a_figure_of_fine_tuning_alone_says_that_its_seeds_are_not_halved():
    raw = deepcopy(CONFIG)
    raw["settings"]["x"]["arms"] = ["finetune", "joint"]
    raw["protocols"]["p"]["softmax"] = RECIPE | {"arms": {"plain": {"halve_at": []}}}
    assert "best of 2 seeds by halving (not finetune)," in small_print(raw)


def test_small_print_says_what_is_well_above_the_optimum():
    """Of the curves that are drawn, the arms and the worst; nothing where all are near."""
    risks = pd.DataFrame(
        [("joint", 0.2), ("joint", 0.001), ("plain", 0.004), ("joint_heads", 0.5)],
        columns=["arm", "above_optimum"],
    ).assign(setting="s", model="attention", layers=1)
    drawn = {"s attention 1 joint", "s attention 1 plain"}
    assert shortfall(risks, drawn) == "; best seeds up to 20.0% above the optimum (joint prompts)"
    assert shortfall(risks, {"s attention 1 plain"}) == ""
    assert shortfall(risks.iloc[:0], drawn) == ""
