"""What a panel can have besides its curves: published risks, the Bayes optimum, a note of gaps."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from decoupling.figures.panel import KIND
from decoupling.sources.gaussian.block import make_spec
from decoupling.tables import BAYES, RISKS, THEORY, read_published
from decoupling.theory.theorems import finetune
from matplotlib.collections import PolyCollection

PUBLISHED = Path(__file__).parents[2] / "data/published/authors_risks.csv"
BLOCK = {"d": 10, "weights": [0.3, 0.7], "means": [2.1, -0.9], "covs": [1, 1]}
LABEL_POWER = 10 + 10 * (0.3 * 2.1**2 + 0.7 * 0.9**2)  # tr Σ + Σ_k π_k |μ_k|², noiseless
ARMS = ["plain", "joint"]
NO_THEORY = THEORY.empty_table().to_pandas()
BAYES_RISKS = {1: (9.0, 0.1), 50: (0.0, 0.0)}  # and standard errors


def figure(*, diverged: int | None = None, theory=NO_THEORY, **changes):
    """A panel, or with `diverged` one whose plain curve has no seed left at that n."""
    panel = {"setting": "fig2c", "title": "fig2c", "layers": 1, "arms": ARMS}
    panel |= {"model": "attention"}
    panel |= {"dashed": "none", "dashed_arms": ARMS, "overlay": "published", "bayes": False}
    panel |= changes
    filler = dict.fromkeys(RISKS.names, 1.0) | {"setting": "fig2c", "model": "attention"}
    risks = pd.DataFrame([filler | {"arm": arm, "n": n} for arm in ARMS for n in (1, 50)])
    if diverged is not None:
        risks.loc[(risks.arm == "plain") & (risks.n == diverged), "seeds_ok"] = 0
    specs = dict.fromkeys(("fig2c", "other"), make_spec("fig2c", BLOCK))
    rows = [
        ["fig2c", n, risk, error, risk / LABEL_POWER, error / LABEL_POWER]
        for n, (risk, error) in BAYES_RISKS.items()
    ]
    bayes = pd.DataFrame(rows, columns=BAYES.names)
    tables = {"specs": specs, "risks": risks, "theory": theory, "bayes": bayes}
    tables["published"] = read_published(PUBLISHED)
    return KIND.draw({"panels": [panel]}, tables, "")


def hollow(drawn) -> list[np.ndarray]:
    lines = drawn.subfigs[0].axes[0].lines
    return [line.get_xydata() for line in lines if line.get_markerfacecolor() == "none"]


def labels(drawn) -> list[str]:
    legends = drawn.subfigs[1].legends
    return [text.get_text() for text in legends[0].get_texts()] if legends else []


def test_hollow_markers_are_the_published_values():
    with PUBLISHED.open() as source:
        rows = [r for r in csv.DictReader(source) if r["setting"] == "fig2c"]
    expected = {
        (arm, int(r["n"]), float(r["risk"]) / LABEL_POWER)
        for r in rows
        for arm in ARMS
        if (r["model"], r["arm"]) == ("attention", arm)
    }
    drawn = figure()
    points = np.concatenate(hollow(drawn))
    assert len(points) == len(expected) == 12
    np.testing.assert_allclose(
        sorted(map(tuple, points)), sorted((n, risk) for _, n, risk in expected), rtol=1e-12
    )
    assert "hollow: published" in labels(drawn)


def test_off_unless_asked_for():
    drawn = figure(overlay="none")
    assert hollow(drawn) == []
    assert not any("published" in label for label in labels(drawn))


def test_points_without_a_seed_are_said():
    def notes(drawn) -> list[str]:
        return [text.get_text() for text in drawn.subfigs[0].axes[0].texts]

    assert notes(figure()) == []
    assert notes(figure(diverged=50)) == ["all seeds diverged:\nplain, n = 50"]


def test_file_without_a_column_is_named(tmp_path):
    (tmp_path / "p.csv").write_text("setting,model,arm,n\n")
    with pytest.raises(ValueError, match=r"p\.csv: has no column risk"):
        read_published(tmp_path / "p.csv")


def test_no_files_no_rows():
    found = read_published(None)
    assert list(found.columns) == ["setting", "model", "arm", "n", "risk", "layers"]
    assert found.empty


def test_published_risks_are_of_one_layer():
    assert set(read_published(PUBLISHED).layers) == {1}


def test_a_theorem_is_a_curve_and_what_is_trained_is_markers_on_it():
    """Theorem 2 of fig2c rises from n = 1 to n = 2, which a straight line to n = 50 would hide."""
    mix = make_spec("fig2c", BLOCK)
    rows = [["fig2c", n, "theorem", "finetune", 0.0, 0.5] for n in (1, 50)]
    theory = pd.DataFrame(rows, columns=THEORY.names)
    arms = ["plain", "finetune"]
    drawn = figure(
        theory=theory, arms=arms, dashed="theorem", dashed_arms=["finetune"], overlay="none"
    )
    lines = drawn.subfigs[0].axes[0].lines
    (curve,) = [line.get_xydata() for line in lines if line.get_linestyle() == "--"]
    assert list(curve[:, 0]) == list(range(1, 51))
    expected = [finetune(mix, n).risk / LABEL_POWER for n in range(2, 50)]
    np.testing.assert_allclose(curve[1:-1, 1], expected)
    assert list(curve[[0, -1], 1]) == [0.5, 0.5]  # the table's
    assert expected[0] > finetune(mix, 1).risk / LABEL_POWER
    joined = [line.get_linestyle() for line in lines if line.get_marker() in ("o", "s")]
    assert joined == ["-", "None"]  # plain, which has no dashed line, and fine-tuned


def test_another_models_theorem_leaves_lines_between_markers():
    rows = [["fig2c", n, "theorem", "plain", 0.0, 0.5] for n in (1, 50)]
    theory = pd.DataFrame(rows, columns=THEORY.names)
    drawn = figure(theory=theory, dashed="theorem", dashed_label="linear, theorem")
    assert {line.get_linestyle() for line in drawn.subfigs[0].axes[0].lines} >= {"-", "--"}


def test_the_legend_lists_what_is_drawn_and_nothing_else():
    drawn = figure(bayes=True, arms=["plain", "joint", "heads"], setting="other")
    assert labels(drawn) == []
    assert labels(figure(dashed="theorem", arms=["plain", "heads"])) == [
        "plain",
        "hollow: published",
    ]


def dotted(drawn) -> list[np.ndarray]:
    lines = drawn.subfigs[0].axes[0].lines
    return [line.get_xydata() for line in lines if line.get_linestyle() == ":"]


def test_dotted_line_and_band_are_the_bayes_risks():
    drawn = figure(overlay="none", bayes=True)
    (line,) = dotted(drawn)
    expected = [[n, risk / LABEL_POWER] for n, (risk, _) in BAYES_RISKS.items()]
    np.testing.assert_allclose(line, expected, rtol=1e-12)
    shapes = drawn.subfigs[0].axes[0].collections
    (band,) = [shape for shape in shapes if isinstance(shape, PolyCollection)]
    bottom, top = band.get_paths()[0].get_extents().intervaly
    assert top == pytest.approx((9 + 2 * 0.1) / LABEL_POWER)
    assert bottom == 0
    assert "dotted: Bayes-optimal" in labels(drawn)


def test_no_bayes_unless_asked_for():
    drawn = figure()
    assert dotted(drawn) == []
    assert not any("Bayes" in label for label in labels(drawn))


def test_the_longest_legend_fits_on_one_panel():
    """Every arm's name would make it higher, not wider."""
    drawn = figure(dashed="theorem", bayes=True)
    drawn.draw_without_rendering()
    legend = drawn.subfigs[1].legends[0].get_window_extent()
    assert drawn.bbox.x0 <= legend.x0 < legend.x1 <= drawn.bbox.x1
