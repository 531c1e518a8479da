"""The numbers of docs/reproduction.md past the paper, recomputed from small tables."""

from __future__ import annotations

import pandas as pd
import pytest
from decoupling.results import beyond


def test_share_of_the_gain() -> None:
    values = {"plain": 0.8, "shared": 0.7, "joint": 0.3}
    rows = [{"n": 2, "arm": arm, "normalized": value} for arm, value in values.items()]
    (row,) = beyond.shared(pd.DataFrame(rows))
    assert row["part"] == pytest.approx(0.2)
    assert (row["n"], row["joint"]) == (2, 0.3)


def test_parts_that_heads_and_prompts_take_off() -> None:
    values = {"plain": 0.8, "heads": 0.6, "joint": 0.4, "joint_heads": 0.2}
    rows = [{"n": 2, "arm": arm, "normalized": value} for arm, value in values.items()]
    (row,) = beyond.heads(pd.DataFrame(rows))
    found = row["heads_part"], row["joint_part"], row["joint_heads_part"]
    assert found == pytest.approx((0.25, 0.5, 0.75))


JOINT = {"theorem": 5, "centred": 4, "energy": 3, "optimum": 2}


def test_joint_by_reference() -> None:
    rows = [
        {"n": 3, "arm": arm, "curve": curve, "risk": scale * risk}
        for arm, scale in (("joint", 1), ("plain", 9))
        for curve, risk in JOINT.items()
    ]
    assert beyond.centred(pd.DataFrame(rows)) == [{"n": 3, **JOINT}]


def test_excess_over_the_optimum() -> None:
    optimum = [{"mixture": i, "arm": "joint", "curve": "optimum", "risk": 2.0} for i in range(3)]
    printed = [
        {"mixture": i, "arm": "joint", "curve": "theorem", "risk": 2.0 * (1 + i / 10)}
        for i in range(3)
    ]
    found = beyond.mixtures(pd.DataFrame(optimum + printed))
    row = next(row for row in found if (row["reference"], row["arm"]) == ("theorem", "joint"))
    assert (row["least"], row["median"], row["most"]) == pytest.approx((0, 10, 20))
    assert row["ninth"] == pytest.approx(18)


def test_what_is_told() -> None:
    rows = [
        {"setting": "identity.s", "n": n, "arm": arm, "told": told, "normalized": i + n}
        | {"normalized_se": 0.5, "wrong": 0.1 * n}
        for n in (1, 2)
        for i, (arm, told) in enumerate((*beyond.OTHERS, *beyond.TOLD))
    ]
    (row,) = beyond.told(pd.DataFrame(rows), [2])
    assert (row["setting"], row["n"], row["wrong"]) == ("s", 2, 0.2)
    risks = [2, 5, 6, 7, 8, 3, 4]  # plain; joint four ways; Bayes twice
    assert row["risks"] == [(risk, 0.5) for risk in risks]
