"""The numbers of docs/reproduction.md on softmax attention, recomputed from small tables."""

from __future__ import annotations

import pandas as pd
import pytest
from decoupling.results import softmax_facts as facts
from decoupling.tables import POINT

RISK = {  # normalised
    "plain": 0.40,
    "zero_prompt": 0.39,
    "shared": 0.38,
    "finetune": 0.33,
    "joint": 0.30,
    "joint_heads": 0.20,
}
THEOREM = {"plain": 0.36, "shared": 0.36, "finetune": 0.34, "joint": 0.26, "joint_heads": 0.25}


def risks(setting: str, lengths: list[int], less: float = 0.0, layers: int = 1) -> pd.DataFrame:
    rows = [
        (setting, n, "softmax", layers, arm, risk - less)
        for n in lengths
        for arm, risk in RISK.items()
    ]
    table = pd.DataFrame(rows, columns=[*POINT, "normalized"])
    counts = {"seeds_total": 16, "seeds_ok": 4, "seeds_stopped": 11}
    table = table.assign(risk=10 * table.normalized, normalized_se=0.003, **counts)
    return table.assign(median=1.1 * table.risk)


def theory(setting: str, lengths: list[int]) -> pd.DataFrame:
    rows = [
        {"setting": setting, "n": n, "curve": curve, "arm": arm, "normalized": value}
        for n in lengths
        for curve in ("theorem", "optimum")
        for arm, value in THEOREM.items()
    ]
    table = pd.DataFrame(rows)
    return table.assign(normalized=table.normalized.where(table.curve == "theorem", 9.0))


@pytest.fixture(scope="module")
def found() -> dict:
    lengths = {"softmax_clean": [1, 10], "softmax_noisy": [10]}
    kept = [risks(name, n) for name, n in lengths.items()]
    kept += [risks("softmax_heads.4", [10], 0.1), risks("softmax_heads.1", [10], -0.1)]
    shares = pd.DataFrame(
        [
            {
                "setting": name,
                "n": n,
                "arm": "joint",
                "head": head,
                "share": share,
                "low": 0.1,
                "high": 0.9,
            }
            for name, own in lengths.items()
            for n in own
            for head, share in ((1, 0.5), (2, 0.125))
        ]
    )
    bounds = kept[0][kept[0].n == 10].tail(3)[[*POINT]]  # finetune, joint, joint_heads
    bounds = bounds.assign(excess=[-1.0, -2.0, 0.5], excess_se=0.1, holds=[True, True, False])
    both = pd.concat([theory(name, own) for name, own in lengths.items()])
    return facts.softmax_facts(pd.concat(kept), bounds, shares, both)


def test_gap_as_a_share_of_linear_attentions(found: dict):
    rows = {(row["data"], row["n"]): row for row in found["softmax_gaps"]}
    assert list(rows) == [("clean", 1), ("clean", 10), ("noisy", 10)]
    row = rows["clean", 10]
    assert row["gap"] == pytest.approx(0.1)
    assert row["gap_se"] == pytest.approx(0.003 * 2**0.5)
    assert row["of_linear"] == pytest.approx(0.1 / 0.1)
    assert row["of_linear_se"] == pytest.approx(0.003 * 2**0.5 / 0.1)
    assert (row["zero_prompt"], row["shared"]) == pytest.approx((0.1, 0.2))
    # (plain − shared) / (plain − joint) has derivatives 8, −10 and 2 by plain, shared and joint.
    assert row["shared_se"] == pytest.approx(0.003 * 168**0.5)
    off = {arm: row[f"{arm}_off"] for arm in ("plain", "finetune", "joint", "joint_heads")}
    assert off == pytest.approx({arm: RISK[arm] / THEOREM[arm] - 1 for arm in off})
    assert row["joint_heads_off_se"] == pytest.approx(0.003 / 0.25)
    assert found["softmax_part"]["shared"] == pytest.approx([0.2, 0.2])


def test_risks_are_listed_with_their_theorems(found: dict):
    cells = found["softmax_risks"][1]["cells"]
    assert list(cells) == list(RISK)
    assert cells["finetune"] == pytest.approx({"risk": 0.33, "error": 0.003, "theorem": 0.34})
    assert cells["zero_prompt"]["theorem"] is None


def test_heads_come_in_order_and_the_theorem_last(found: dict):
    rows = found["softmax_heads"]
    assert [row["heads"] for row in rows] == [1, 2, 4, "linear, theorem"]
    joint = [row["cells"]["joint"][0] for row in rows]
    assert joint == pytest.approx([0.4, 0.3, 0.2, 0.26])
    row = found["softmax_below"][-1]
    arms = ["plain", "shared", "finetune", "joint", "joint_heads"]
    assert (row["heads"], row["n"], row["arms"]) == (4, 10, arms)


def test_below_the_theorem_by_more_than_two_standard_errors():
    cells = {"plain": (0.355, 0.003), "shared": (0.353, 0.003), "joint": (0.27, 0.001)}
    theorem = {"plain": (0.36, 0.0), "shared": (0.36, 0.0), "joint": (0.26, 0.0)}
    none = {"plain": (0.37, 0.003), "shared": (0.36, 0.003), "joint": (0.27, 0.001)}
    rows = [{"n": 10, "heads": 1, "cells": none}, {"n": 10, "heads": 8, "cells": cells}]
    rows.append({"n": 10, "heads": facts.LINEAR, "cells": theorem})
    assert facts.below(rows) == [{"heads": 8, "n": 10, "arms": ["shared"]}]


def test_shares_bounds_and_seeds(found: dict):
    assert found["softmax_shares"][1]["cells"]["joint"] == [0.5, 0.1, 0.9]
    assert found["softmax_shares"][1]["alone"] == pytest.approx(1 / 11)
    assert (found["softmax_bounds"]["held"], found["softmax_bounds"]["all"]) == (2, 3)
    (row,) = found["softmax_bounds"]["broken"]
    assert row["arm"] == "joint_heads"  # whose risk is 2
    assert (row["relative"], row["errors"]) == pytest.approx((0.25, 5.0))
    assert found["softmax_seeds"]["diverged"] == 5 * 6  # one of 16 at every point
    assert (found["softmax_seeds"]["whole"], found["softmax_seeds"]["far"]) == (0, [])
    whole = risks("softmax_clean", [10]).assign(seeds_stopped=0)
    raced = risks("softmax_noisy", [10])
    assert len(facts.seeds(pd.concat([whole, raced]))["far"]) == 6
    near = whole.assign(median=lambda table: 1.009 * table.risk)
    assert facts.seeds(near)["far"] == []


def test_how_much_of_a_token_a_prompt_has(found: dict):
    """A share of a half and a tenth below 0.1, at n = 10 only."""
    joint = found["softmax_heard"]["joint"]
    assert joint["mean"] == pytest.approx([5.5, 5.5])
    assert joint["least"] == pytest.approx([0.2, 0.2])


def test_transformers_beside_theorem_and_twice_the_iterations():
    kept = pd.concat(
        [risks("transformer", [10], less, layers) for layers, less in ((1, 0), (2, 0.1))]
    )
    bounds = kept.head(1)[[*POINT]].assign(excess=-1.0, excess_se=0.1, holds=True)
    twice = [{"n": 10, "layers": 2, "arm": "joint", "changed": 0.19}]
    other = theory("softmax_clean", [10]).assign(normalized=7.0)
    made = facts.transformer_facts(
        kept, bounds, pd.concat([theory("transformer", [10]), other]), twice
    )
    rows = {(row["layers"], row["arm"]): row for row in made["transformer"]}
    assert rows[2, "joint"]["risk"] == pytest.approx(0.2)
    assert rows[2, "joint"]["theorem"] == pytest.approx(0.26)
    assert rows[2, "joint"]["median"] == pytest.approx(0.22)
    assert (rows[2, "joint"]["doubled"], rows[1, "joint"]["doubled"]) == (0.19, None)
    assert made["transformer_bounds"]["held"] == 1
    for seeds in ("best", "median"):
        assert made["transformer_gain"][seeds] == pytest.approx({1: 0.25, 2: 1 / 3})
    assert made["transformer_doubled"] == []  # not all are known
    twice = [
        {"n": 10, "layers": layers, "arm": arm, "changed": risk / layers}
        for layers in (1, 2)
        for arm, risk in RISK.items()
    ]
    made = facts.transformer_facts(kept, bounds, theory("transformer", [10]), twice)
    gains = made["transformer_doubled"]
    assert [row["layers"] for row in gains] == [1, 2]
    for row in gains:
        assert (row["shared"], row["joint"]) == pytest.approx((0.05, 0.25))
