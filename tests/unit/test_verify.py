"""What this machine trained, against the archive."""

from __future__ import annotations

import pandas as pd
import pytest
from decoupling.analysis import verify

TOLERANCES = {
    ("exact", "risk"): (1e-6, 0.0),
    ("exact", "median"): (1e-3, 0.0),
    ("estimated", "risk"): (0.0, 3.0),
}
POINT = {"setting": "x", "n": 4, "model": "attention", "layers": 1, "arm": "joint"}


def table(risk: float, median: float = 2.0, error: float = 0.0) -> pd.DataFrame:
    return pd.DataFrame([{**POINT, "risk": risk, "risk_se": error, "median": median}])


def compared(one: pd.DataFrame, other: pd.DataFrame, kind: str = "exact") -> pd.DataFrame:
    return pd.DataFrame(verify.compare(one, other, [kind], TOLERANCES))


@pytest.mark.parametrize(
    ("risk", "median", "verdicts"),
    [
        (1.0, 2.0, ["identical", "identical"]),
        (1.0000005, 2.001, ["within", "within"]),
        (1.00001, 2.01, ["differs", "differs"]),
        (float("nan"), 2.0, ["differs", "identical"]),
    ],
)
def test_rounding_is_allowed_and_no_more(risk: float, median: float, verdicts: list[str]):
    assert [*compared(table(1.0), table(risk, median)).verdict] == verdicts


def test_estimated_risks_may_differ_by_three_standard_errors_of_both():
    """Their medians are not compared: which seeds a race stops hangs on rounding."""
    for far, verdict in ((4.2, "within"), (4.3, "differs")):
        found = compared(table(1.0, 2, 0.01), table(1 + far * 0.01, 3, 0.01), "estimated")
        assert [*found.quantity] == ["risk"]
        assert [*found.verdict] == [verdict]


def test_how_a_point_was_made():
    point = POINT | {"risk_se": 0.0}
    assert verify.kind(point, {}) == "exact"
    assert verify.kind(point, {"schedule": "cosine"}) == "at_rest"
    assert verify.kind(point | {"arm": "finetune"}, {}) == "exact_finetune"
    assert verify.kind(point, {"batch_size": 64}) == "batches"
    assert verify.kind(point | {"risk_se": 0.1}, {"batch_size": 64}) == "estimated"


def test_the_last_line_is_the_verdict():
    def last(rows: pd.DataFrame) -> str:
        return verify.markdown(rows, ["y, by another recipe (lr)"], "p").splitlines()[-1]

    assert last(pd.DataFrame()).startswith("Nothing to compare")
    text = "Verified: of 2 numbers 1 are identical, 1 within what is allowed."
    assert last(compared(table(1.0), table(1.0, 2.001))) == text
    wrong = compared(table(1.0), table(1.01))
    text = "Different: 1 of 2 numbers differ, most of all x n = 4 attention joint: risk 1.01 for 1."
    assert last(wrong) == text
    assert "| x n = 4 attention joint | risk | 1 | 1.01 | +1.00e-02 | 1.0e-06 |" in (
        verify.markdown(wrong, [], "p")
    )


def test_the_committed_tolerances_have_every_kind():
    from configs import ROOT

    found = verify.read_tolerances(ROOT / "data/archive/tolerances.csv")
    kinds = {kind for kind, quantity in found if quantity == "risk"}
    single = {"at_rest", "exact", "exact_finetune", "batches", "estimated"}
    assert kinds == single | {verify.held_out_kind(same) for same in (True, False)}
