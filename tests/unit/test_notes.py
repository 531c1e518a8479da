"""The small print of figures: what the protocol was."""

from __future__ import annotations

from copy import deepcopy

import pandas as pd
import pytest
import yaml
from configs import read
from decoupling.analysis import shortfall
from decoupling.tables import RISKS, THEORY, read_all

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
        (
            {"plain": {"halve_at": []}},
            "best of 2 seeds by halving (not fine-tuned prompts, plain),",
        ),
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
    assert "best of 2 seeds by halving (not fine-tuned prompts)," in small_print(raw)


def test_best_seeds_well_above_the_optimum_are_named():
    """Of the curves that are drawn, with a line for each; nothing where no optimum is known, and
    nothing below half a percent."""
    rows = [("joint", 1, 2.008), ("joint", 5, 1.5), ("joint", 9, 1.2), ("plain", 5, 7.0)]
    common = {"setting": "s", "model": "attention", "layers": 1, "seeds_total": 2}
    risks = pd.DataFrame(rows, columns=["arm", "n", "risk"]).assign(**common)
    least = [(1, "optimum", 2.0), (5, "optimum", 1.0), (9, "optimum", 1.0), (9, "theorem", 0.1)]
    theory = pd.DataFrame(least, columns=["n", "curve", "risk"]).assign(arm="joint", setting="s")
    known, drawn = {"attention": "optimum"}, {"s attention 1 joint", "s attention 1 plain"}
    high = shortfall.above_optimum(risks, theory, known, drawn)
    assert dict(zip(high.n, high.above, strict=True)) == pytest.approx({5: 0.5, 9: 0.2})
    assert (
        shortfall.small_print(high) == "; best seeds up to 50.0% above the optimum (joint prompts)"
    )
    [line] = shortfall.warnings(high, "train longer")
    assert line.startswith("s: the best of 2 seeds of attention, joint, is up to 50.0% above")
    assert line.endswith("(n = 5, 9); train longer")
    for nothing in (
        shortfall.above_optimum(risks, theory, known, {"s attention 1 plain"}),
        shortfall.above_optimum(risks, theory, {}, drawn),
        shortfall.above_optimum(risks.iloc[:0], theory, known, drawn),
        shortfall.above_optimum(*(read_all([], schema) for schema in (RISKS, THEORY)), {}, set()),
    ):
        assert shortfall.small_print(nothing) == ""
        assert shortfall.warnings(nothing, "") == []
