"""The tables of docs/reproduction.md on softmax attention and transformers, on small frames."""

from __future__ import annotations

import pandas as pd
import pytest
from cells import made
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
LENGTHS = {"softmax_clean": [1, 10], "softmax_noisy": [10]}


def risks(setting: str, lengths: list[int], less: float = 0.0, layers: int = 1) -> pd.DataFrame:
    rows = [
        (setting, n, "softmax", layers, arm, risk - less)
        for n in lengths
        for arm, risk in RISK.items()
    ]
    table = pd.DataFrame(rows, columns=[*POINT, "normalized"])
    table = table.assign(risk=10 * table.normalized, normalized_se=0.003)
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
def data() -> dict[str, pd.DataFrame]:
    kept = [risks(name, n) for name, n in LENGTHS.items()]
    kept += [risks(f"softmax_heads.{heads}", [10], less) for heads, less in ((8, 0), (4, 0.1))]
    kept += [risks("softmax_heads.1", [10], -0.1)]
    both = pd.concat([theory(name, n) for name, n in LENGTHS.items()])
    return {"softmax": pd.concat(kept), "theory": both}


def test_risks_have_their_theorems_beside_them(data: dict):
    rows = made("softmax_risks", **data)
    assert [row[:2] for row in rows] == [["clean", "1"], ["clean", "10"], ["noisy", "10"]]
    plain, zero, shared, tuned, _, _ = rows[1][2:]
    assert plain == "0.4000 ± 0.0030, linear 0.3600"
    assert (zero, shared) == ("0.3900 ± 0.0030", "0.3800 ± 0.0030")
    assert tuned == "0.3300 ± 0.0030, linear 0.3400"


def test_gap_as_a_share_of_linear_attentions(data: dict):
    """(plain − shared) / (plain − joint) has derivatives 8, −10 and 2 by plain, shared and joint;
    0.003 times their length is 0.0389. Those of the prompt of zeros are 9, −10 and 1."""
    row = made("softmax_gaps", **data)[1]
    assert row[2:5] == ["0.1000 ± 0.0042", "0.1000", "100 ± 4%"]
    assert row[5:] == ["10.0 ± 4.0%", "20.0 ± 3.9%"]


def test_distance_from_the_theorems(data: dict):
    cells = made("softmax_theorems", **data)[1][2:]
    assert cells == ["+11.1% ± 0.8%", "−2.9% ± 0.9%", "+15.4% ± 1.2%", "−20.0% ± 1.2%"]


def test_shares_are_of_the_first_head():
    rows = [
        {"setting": "softmax_noisy", "n": 3, "arm": arm, "head": head, "share": share}
        for arm in RISK
        for head, share in ((1, 0.5), (2, 0.125))
    ]
    shares = pd.DataFrame(rows).assign(low=0.1, high=0.9)
    expected = ["noisy", "3", "0.250", *["0.500 (0.100–0.900)"] * 5]
    assert made("softmax_shares", softmax_prompt_share=shares) == [expected]


def test_heads_come_in_order_and_the_theorem_last(data: dict):
    rows = made("softmax_heads", **data)
    assert [row[:2] for row in rows] == [["10", h] for h in ("1", "2", "4", "8", "linear, theorem")]
    joint = ["0.4000 ± 0.0030", "0.3000 ± 0.0030", "0.2000 ± 0.0030", "0.3000 ± 0.0030", "0.2600"]
    assert [row[4] for row in rows] == joint


def test_transformers_beside_theorem_and_twice_the_iterations():
    depths = [risks("transformer", [10], less, layers) for layers, less in ((2, 0.1), (1, 0))]
    own = pd.concat(depths)
    own = own[own.arm.isin(["plain", "joint"])]
    row = {"setting": "transformer", "n": 10, "layers": 2, "arm": "joint", "risk": 0.2}
    twice = pd.DataFrame([row | {"risk_se": 0.003, "changed": 0.19, "changed_se": 0.003}])
    both = pd.concat([theory("transformer", [10]), theory("softmax_clean", [10])])
    found = made("transformer", transformer=own, transformer_doubling=twice, theory=both)
    curves = [("1", "plain"), ("1", "joint"), ("2", "plain"), ("2", "joint")]
    assert [(row[1], row[2]) for row in found] == curves
    assert found[3][3:] == ["0.2000 ± 0.0030", "0.2200", "0.2600", "0.1900 (−5.0%)"]
    assert found[0][-1] == "not run"
