"""The scoreboard's numbers and verdicts, recomputed in plain Python."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from decoupling.analysis.scoreboard import TOLERANCE, scoreboard
from decoupling.analysis.scoretext import markdown
from decoupling.figures.scoreboard import Scoreboard
from decoupling.tables import BOUNDS, RISKS, SCOREBOARD, THEORY, read_table, write_table

COLUMNS = [
    *("panel", "model", "layers", "arm", "theorem_worst", "theorem_mean", "optimum_worst"),
    *("optimum_mean", "published_worst", "published_mean", "seeds_ok_least", "verdict"),
    *("has_theorem", "centred_worst", "centred_mean", "broken", "error_worst", "tail_worst"),
]
REFERENCES = {("attention", 1): ["theorem", "optimum", "centred"], ("reduced", 1): ["theorem"]}
NAN = math.nan


def curve(model: str = "attention", layers: int = 1, arm: str = "plain") -> dict:
    point = {"panel": "p", "setting": "s", "model": model, "layers": layers, "arm": arm}
    return point | {"references": REFERENCES.get((model, layers), [])}


def risk_rows(values: dict[int, float], seeds_ok: int = 5, **which) -> pd.DataFrame:
    filler = dict.fromkeys(RISKS.names, 0)
    rows = [filler | curve(**which) | {"n": n, "risk": r} for n, r in values.items()]
    return pd.DataFrame(rows).assign(seeds_ok=seeds_ok)[RISKS.names]


def theory_rows(values: dict[int, float], kind: str = "theorem", arm: str = "plain"):
    rows = [
        {"setting": "s", "n": n, "curve": kind, "arm": arm, "risk": r, "normalized": 0.0}
        for n, r in values.items()
    ]
    return pd.DataFrame(rows, columns=THEORY.names)


def published_rows(values: dict[int, float], **which) -> pd.DataFrame:
    rows = [curve(**which) | {"n": n, "risk": r} for n, r in values.items()]
    return pd.DataFrame(rows, columns=["setting", "model", "layers", "arm", "n", "risk"])


def score(risks, theory=None, published=None, bounds=None, **which) -> dict:
    theory = theory_rows({}) if theory is None else theory
    published = published_rows({}) if published is None else published
    bounds = bound_rows() if bounds is None else bounds
    return scoreboard([curve(**which)], risks, theory, published, bounds).iloc[0].to_dict()


def bound_rows(*found: tuple[int, str, bool], **which) -> pd.DataFrame:
    rows = [
        curve(**which) | {"n": n, "bound": bound, "excess": 0.0, "excess_se": 0.0, "holds": holds}
        for n, bound, holds in found
    ]
    return pd.DataFrame(rows, columns=BOUNDS.names).astype({"holds": bool})


def plain_python(trained: dict[int, float], reference: dict[int, float]) -> tuple[float, float]:
    found = [
        (trained[n] - reference[n]) / reference[n]
        for n in sorted(trained)
        if n in reference and math.isfinite(trained[n])
    ]
    if not found:
        return NAN, NAN
    return max(found, key=abs), sum(found) / len(found)


CASES = {  # trained, theorem, verdict
    "equal": ({1: 8.0, 9: 4.0}, {1: 8.0, 9: 4.0}, "matches"),
    "within": ({1: 8.04, 9: 3.98}, {1: 8.0, 9: 4.0}, "matches"),
    "at the tolerance": ({1: 101.0, 9: 99.0}, {1: 100.0, 9: 100.0}, "matches"),
    "just above": ({1: 101.01, 9: 99.0}, {1: 100.0, 9: 100.0}, "above"),
    "just below": ({1: 101.0, 9: 98.99}, {1: 100.0, 9: 100.0}, "below"),
    "above": ({1: 8.0, 9: 5.0}, {1: 8.0, 9: 4.0}, "above"),
    "below": ({1: 8.0, 9: 3.0}, {1: 8.0, 9: 4.0}, "below"),
    "mixed, worst above": ({1: 7.8, 9: 5.0}, {1: 8.0, 9: 4.0}, "above"),
    "mixed, worst below": ({1: 8.2, 9: 3.0}, {1: 8.0, 9: 4.0}, "below"),
    "mean of one sign, worst of the other": (
        {1: 1.04, 2: 1.04, 3: 1.04, 4: 0.95},
        dict.fromkeys(range(1, 5), 1.0),
        "below",
    ),
    "one diverged": ({1: NAN, 9: 4.0}, {1: 8.0, 9: 4.0}, "diverged"),
    "one infinite": ({1: math.inf, 9: 4.4}, {1: 8.0, 9: 4.0}, "diverged"),
    "all diverged": ({1: NAN, 9: NAN}, {1: 8.0, 9: 4.0}, "diverged"),
    "no reference": ({1: 8.0, 9: 4.0}, {}, "no theorem"),
    "no reference, diverged": ({1: 8.0, 9: NAN}, {}, "diverged"),
    "reference at other n": ({1: 8.0}, {2: 7.0}, "no theorem"),
    "reference at more n": ({1: 8.8}, {1: 8.0, 2: 1.0}, "above"),
}


@pytest.mark.parametrize(("trained", "theorem", "verdict"), CASES.values(), ids=CASES)
def test_verdict_and_deviations(trained: dict, theorem: dict, verdict: str):
    row = score(risk_rows(trained), theory_rows(theorem))
    assert row["verdict"] == verdict
    expected = plain_python(trained, theorem)
    assert (row["theorem_worst"], row["theorem_mean"]) == pytest.approx(expected, nan_ok=True)


def test_tolerance_is_the_stated_one():
    assert TOLERANCE == 0.01
    assert "1% from the theorem" in markdown(scoreboard([], *empty_tables()), "")


def empty_tables() -> tuple[pd.DataFrame, ...]:
    return risk_rows({1: 1.0}).iloc[:0], theory_rows({}), published_rows({}), bound_rows()


def test_each_reference_has_its_own_columns():
    trained = {1: 9.0, 2: 5.0}
    optimum, published = {1: 8.0, 2: 5.0}, {1: 10.0, 2: 4.0}
    theory = pd.concat([theory_rows({1: 9.0, 2: 5.0}), theory_rows(optimum, "optimum")])
    row = score(risk_rows(trained), theory, published_rows(published))
    assert row["verdict"] == "matches"
    for name, reference in (("optimum", optimum), ("published", published)):
        found = row[f"{name}_worst"], row[f"{name}_mean"]
        assert found == pytest.approx(plain_python(trained, reference))


def test_references_of_other_curves_are_not_used():
    theory = pd.concat([theory_rows({1: 1.0}, arm="joint"), theory_rows({1: 1.0}, "optimum")])
    published = pd.concat([published_rows({1: 1.0}), published_rows({1: 1.0}, arm="joint")])
    row = score(risk_rows({1: 2.0}, model="reduced"), theory, published, model="reduced")
    references = ("theorem", "optimum", "published", "centred")
    assert all(math.isnan(row[f"{name}_worst"]) for name in references)


def test_deeper_models_have_no_reference():
    risks = pd.concat([risk_rows({1: 2.0}), risk_rows({1: 1.5}, layers=2)])
    row = score(risks, theory_rows({1: 1.5}), published_rows({1: 1.5}), layers=2)
    assert row["verdict"] == "no theorem"
    assert math.isnan(row["theorem_worst"])
    assert math.isnan(row["published_worst"])


BOUNDS_CASES = {  # (n, bound, whether it holds), verdict, what is broken
    "all hold": ([(1, "plain", True), (2, "Bayes", True)], "bounds hold", ""),
    "one broken": (
        [(1, "plain", True), (2, "plain", False)],
        "bound broken",
        "above plain at n = 2",
    ),
    "several": (
        [(5, "plain", False), (2, "plain", False), (2, "Bayes", False), (2, "1 layer", True)],
        "bound broken",
        "above plain at n = 2, 5; below Bayes at n = 2",
    ),
}


@pytest.mark.parametrize(("found", "verdict", "words"), BOUNDS_CASES.values(), ids=BOUNDS_CASES)
def test_bounds_are_the_verdict_where_there_is_no_theorem(found: list, verdict: str, words: str):
    others = bound_rows((1, "plain", False), layers=3)
    bounds = pd.concat([bound_rows(*found, layers=2), others])
    row = score(risk_rows({1: 2.0, 2: 1.0}, layers=2), bounds=bounds, layers=2)
    assert (row["verdict"], row["broken"]) == (verdict, words)


def test_a_theorem_comes_before_bounds():
    row = score(risk_rows({1: 2.0}), theory_rows({1: 1.0}), bounds=bound_rows((1, "plain", True)))
    assert row["verdict"] == "above"


def test_a_diverged_curve_is_called_so_before_its_bounds():
    bounds = bound_rows((1, "plain", True), layers=2)
    row = score(risk_rows({1: 2.0, 2: NAN}, layers=2), bounds=bounds, layers=2)
    assert row["verdict"] == "diverged"


def test_largest_error_and_tail():
    risks = risk_rows({1: 2.0, 2: 1.0}, layers=2).assign(risk_se=[0.1, 0.02], tail_share=[0.1, 0.3])
    row = score(risks, layers=2)
    assert (row["error_worst"], row["tail_worst"]) == pytest.approx((0.05, 0.3))


def test_fewest_seeds_that_did_not_diverge():
    risks = pd.concat([risk_rows({1: 2.0}, seeds_ok=5), risk_rows({2: 2.0}, seeds_ok=3)])
    assert score(risks)["seeds_ok_least"] == 3


def test_missing_curve_is_named():
    with pytest.raises(ValueError, match="'arm': 'joint'"):
        score(risk_rows({1: 2.0}), arm="joint")


@pytest.fixture
def table() -> pd.DataFrame:
    arms = ("plain", "joint", "joint_heads")
    risks = pd.concat(
        [risk_rows({1: r}, arm=a) for a, r in zip(arms, (1.1, 0.5, NAN), strict=True)]
        + [risk_rows({1: 3.0}, layers=2)]
    )
    theory = pd.concat([theory_rows({1: 1.0}, arm=arm) for arm in arms])
    which = [curve(arm=arm) for arm in arms] + [curve(layers=2)]
    bounds = bound_rows((1, "joint", True), (1, "1 layer", False), (1, "Bayes", True), layers=2)
    return scoreboard(which, risks, theory, published_rows({}), bounds)


def test_missing_references_are_null_in_the_file(table: pd.DataFrame, tmp_path):
    assert SCOREBOARD.names == COLUMNS
    write_table(tmp_path / "t.parquet", table.to_dict("records"), SCOREBOARD)
    read = read_table(tmp_path / "t.parquet", SCOREBOARD)
    assert read.published_worst.isna().all()
    assert list(read.theorem_worst.isna()) == [False, False, True, True]
    assert list(read.has_theorem) == [True, True, True, False]


def test_markdown_has_every_curve_and_its_verdict(table: pd.DataFrame):
    text = markdown(table, "Protocol x")
    lines = [line for line in text.splitlines() if line.startswith("| p |")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [(row[3], row[4], row[-4], row[-3]) for row in rows] == [
        ("plain", "+10%", "above", ""),
        ("joint", "-50%", "below", ""),
        ("joint_heads", "", "diverged", ""),
        ("plain", "", "bound broken", "above 1 layer at n = 1"),
    ]
    assert "Protocol x" in text


def test_heat_map_says_the_numbers(table: pd.DataFrame):
    figure = Scoreboard.draw({}, {"scoreboard": table}, "small print")
    body, foot = figure.subfigs
    cells = {(t.get_position(), t.get_text()) for t in body.axes[0].texts}
    assert cells == {((0, 0), "+10%"), ((1, 0), "−50%"), ((2, 0), "diverged")}
    assert [t.get_text() for t in foot.texts] == ["small print"]
    norm = body.axes[0].images[0].norm
    assert norm(0.0) == pytest.approx(0.5)


def test_heat_map_without_theorems_is_drawn(table: pd.DataFrame):
    figure = Scoreboard.draw({}, {"scoreboard": table[table.layers > 1]}, "")
    assert "no curve has a theorem" in figure.subfigs[0].axes[0].texts[0].get_text()
