"""Figures and tables of real data, from small frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cells import made
from decoupling.analysis.gate import out_of_gate
from decoupling.figures import real, real_gain
from decoupling.models import arms
from decoupling.tables import REAL

ARMS = ("plain", "shared", "finetune", "joint", "joint_heads")
BASELINES = ("ols", "ridge", "group_mean", "pooled", "blup")
RISKS = dict(
    zip((*ARMS, *BASELINES), (0.8, 0.6, 0.7, 0.5, 0.4, 2.0, 0.7, 0.5, 0.55, 0.4), strict=True)
)
LENGTHS = (1, 5)


def rows(setting: str, gate: float) -> list[dict]:
    """The measured theorem is right for every arm but plain, which it misses by 5 errors."""
    found = []
    for n in LENGTHS:
        for model, names in (("attention", ARMS), ("reduced", ARMS[:-1]), ("baseline", BASELINES)):
            for arm in names:
                risk, trained = RISKS[arm], model != "baseline"
                row = dict.fromkeys(REAL.names, 0.01)
                row |= {"setting": setting, "n": n, "model": model, "layers": 1, "arm": arm}
                row |= {"normalized": risk, "gain": 0.8 - risk, "gate": gate, "units": 20}
                row |= {"over_shared": 0.6 - risk, "units_total": 24, "clusters": 9, "seeds": 3}
                row |= {"measured": risk - 0.05 * (arm == "plain"), "theorem": risk + 0.1}
                row |= {"measured_gain": 0.75 - risk, "theorem_gain": 0.8 - risk}
                found.append(row if trained else row | {"measured": None, "theorem": None})
    return found


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(rows("good", 1.02) + rows("bad", 1.3))


def setting(name: str) -> dict:
    return {
        "name": name, "model": "attention", "theory_model": "reduced", "dim": 3, "group": "kind",
        "fold_by": "school", "folds": 5, "intercept": True, "differences": False,
    }  # fmt: skip


def texts(figure) -> str:
    axes = [ax for sub in figure.subfigs for ax in sub.axes]
    return "\n".join(ax.get_title() for ax in axes)


@pytest.mark.parametrize("kind", [real.KIND, real_gain.KIND])
def test_figures_are_drawn_with_all_arms(table: pd.DataFrame, kind):
    plot_spec = {"settings": [setting("good"), setting("bad")]}
    figure = kind.draw(plot_spec, {"real": table}, "note")
    labels = [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()]
    if kind is real.KIND:
        assert {arms.ARMS[arm].label for arm in ARMS} <= set(labels)
        assert "BLUP (below)" in labels
        assert texts(figure).count("GATE FAILS") == 1
    else:
        assert labels[:2] == ["good", "bad: gate fails (1.300 ± 0.010)"]


def test_axes_are_of_what_is_trained_and_the_legend_of_what_is_in_sight(table: pd.DataFrame):
    drawn = real.KIND.draw({"settings": [setting("good")]}, {"real": table}, "note")
    for ax in drawn.subfigs[0].axes:
        bottom, top = ax.get_ylim()
        assert 0.3 < bottom < 0.4 < 0.8 < top < 1.0
    labels = [text.get_text() for text in drawn.subfigs[1].legends[0].get_texts()]
    assert "ridge on the context (below)" in labels
    assert "least squares on the context (below)" not in labels  # at 2, which is far above


def test_gate_is_three_standard_errors():
    for gate in (0.97, 1.0, 1.03):
        assert not out_of_gate(pd.DataFrame([{"gate": gate, "gate_se": 0.0101}]))
    for gate in (0.96, 1.04, np.nan):
        assert out_of_gate(pd.DataFrame([{"gate": gate, "gate_se": 0.0101}]))


def test_gains_are_of_joint_over_plain(table: pd.DataFrame):
    found = real_gain.gains(table, setting("good"), "reduced")
    assert list(found.index) == [1, 5]
    assert found.gain.tolist() == pytest.approx([0.3, 0.3])
    assert found.measured.tolist() == pytest.approx([0.25, 0.25])
    assert found.theorem.tolist() == pytest.approx([0.3, 0.3])


def test_small_print_has_whole_sentences():
    made = [setting("good") | {"fold_by": by} for by in ("school", "commune")]
    said = real.small_print("Protocol p", made).splitlines()
    assert all(line.endswith(".") for line in said)
    assert said[1].startswith("Held out: 5 folds by commune, school, 200 contexts a unit. Bars:")


def test_agreement_and_gains_in_the_docs(table: pd.DataFrame):
    """The theorems are of the reduced model, except with heads, which only attention has."""
    good, bad = made("real", real=table)
    within = ["0 of 10", "8 of 10", "+6.7%", "8 of 10"]
    gains = ["0.300 to 0.300", "0.300 to 0.300", "67% to 67%"]
    assert good == ["good", "1.0200 ± 0.0100", *within, *gains]
    assert bad[1] == "1.3000 ± 0.0100: fails"
