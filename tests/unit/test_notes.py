"""The small print of figures: what the protocol was."""

from __future__ import annotations

from copy import deepcopy

import pandas as pd
import pytest
import yaml
from configs import read
from decoupling.analysis import shortfall
from decoupling.plan import drawing
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
    found = {shortfall.OPTIMUM: high}
    text = "; best seeds up to 50.0% above the optimum (joint prompts)"
    assert shortfall.small_print(found) == text
    [line] = shortfall.warnings(found, {"optimum": "train longer"})
    assert line.startswith("s: the best of 2 seeds of attention, joint, is up to 50.0% above")
    assert line.endswith("(n = 5, 9); train longer")
    for nothing in (
        shortfall.above_optimum(risks, theory, known, {"s attention 1 plain"}),
        shortfall.above_optimum(risks, theory, {}, drawn),
        shortfall.above_optimum(risks.iloc[:0], theory, known, drawn),
        shortfall.above_optimum(*(read_all([], schema) for schema in (RISKS, THEORY)), {}, set()),
    ):
        assert nothing.empty
    assert shortfall.small_print({shortfall.OPTIMUM: nothing}) == ""
    assert [*shortfall.warnings({shortfall.OPTIMUM: nothing}, {"optimum": ""})] == []


def test_best_seeds_that_a_further_search_lowers_are_named():
    """Of mixtures and of tables, unless the optimum says it already."""
    rows = [("joint", 1, 2.0, 0.2), ("joint", 5, 2.0, 0.5), ("plain", 5, 1.0, 0.004)]
    common = {"setting": "s", "model": "attention", "layers": 1}
    risks = pd.DataFrame(rows, columns=["arm", "n", "risk", "descent_left"]).assign(**common)
    theory = pd.DataFrame({"setting": "s", "arm": "joint", "curve": "optimum", "n": [1], "risk": 1})
    real = risks.assign(setting="t", seeds=3, descent_left=[0.2, float("nan"), 0.0])
    tables = {"risks": risks.assign(seeds_total=2), "theory": theory, "real": real}
    drawn = {f"{setting} attention 1 {arm}" for setting in "st" for arm in ("plain", "joint")}
    told = {"optimum": {"attention": "optimum"}, "bounds": []}
    found = shortfall.shortfalls(tables, told, drawn)
    assert "above where a further search ends (joint prompts)" in shortfall.small_print(found)
    lines = [*shortfall.warnings(found, dict.fromkeys(("optimum", "bound"), "train longer"))]
    assert [line.partition("; ")[0].rpartition(", is up to ")[2] for line in lines] == [
        "100.0% above the optimum (n = 1)",
        "100.0% above where a further search ends (n = 5)",
        "25.0% above where a further search ends (n = 1)",
    ]
    assert lines[2].startswith("t: the best of 3 seeds of attention, joint,")
    assert all(rows.empty for rows in shortfall.shortfalls(tables, told, set()).values())


def test_best_seeds_above_what_they_contain_are_named():
    """By more than three errors of both, of the pairs that are given."""
    rows = [("plain", 1, 2.0, 0.1), ("plain", 5, 1.0, 0.01), ("joint", 1, 2.4, 0.1)]
    rows += [("joint", 5, 1.1, 0.02), ("joint", 9, 7.0, 0.1)]
    common = {"setting": "s", "model": "softmax", "layers": 1, "seeds_total": 2}
    risks = pd.DataFrame(rows, columns=["arm", "n", "risk", "risk_se"]).assign(**common)
    pair = {"curve": "s softmax 1 joint", "other": "s softmax 1 plain", "bound": "plain"}
    broken = shortfall.above_bounds(risks, [pair])
    assert dict(zip(broken.n, broken.above, strict=True)) == pytest.approx({5: 0.1})
    text = "; best seeds up to 10.0% above a model that they contain (joint prompts)"
    found = {shortfall.CONTAINED: broken}
    assert shortfall.small_print(found) == text
    [line] = shortfall.warnings(found, {"bound": "train longer"})
    assert line == (
        "s: the best of 2 seeds of softmax, joint, is up to 10.0% above plain (n = 5); train longer"
    )
    assert shortfall.above_bounds(risks.assign(risk_se=1.0), [pair]).empty
    assert shortfall.above_bounds(read_all([], RISKS), [pair]).empty


def test_a_figure_holds_curves_to_those_beside_them():
    """Of one mixture; one layer and deeper attention, of which one layer has an optimum."""
    raw = deepcopy(CONFIG)
    base = raw["settings"]["x"] | {"models": ["attention"], "arms": ["plain", "joint"]}
    raw["settings"] = {"one": base, "two": base | {"layers": [2]}}
    raw["settings"]["other"] = base | {"layers": [3], "means": [1]}
    raw["figures"] = {"page": {"kind": "page", "panels": ["one", "two", "other"]}}
    exact = {"batch_size": "exact", "iterations": 1, "lr": 0.1}
    raw["protocols"]["p"] |= {"one_layer": exact, "deep": exact | {"batch_size": 8}}
    config = read(raw)
    found = drawing.held_to(config.figures["page"], config)
    assert found["optimum"] == {"attention": "optimum"}
    assert {(pair["curve"], pair["other"], pair["bound"]) for pair in found["bounds"]} == {
        ("two attention 2 plain", "one attention 1 plain", "1 layer"),
        ("two attention 2 joint", "one attention 1 joint", "1 layer"),
        ("two attention 2 joint", "two attention 2 plain", "plain"),
        ("other attention 3 joint", "other attention 3 plain", "plain"),
    }
    assert "protocols.p.one_layer" in found["remedies"]["optimum"]
    assert found["remedies"]["bound"] == "try more iterations or seeds in protocols.p.deep"
