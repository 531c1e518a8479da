"""The authors' published risks on a panel."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from decoupling.plotting import Tables, draw
from decoupling.published import read_published
from decoupling.spec import mixture_from_config
from decoupling.tables import RISKS, THEORY

PUBLISHED = Path(__file__).parents[2] / "data/published/authors_risks.csv"
BLOCK = {"d": 10, "weights": [0.3, 0.7], "means": [2.1, -0.9], "covs": [1, 1]}
LABEL_POWER = 10 + 10 * (0.3 * 2.1**2 + 0.7 * 0.9**2)  # tr Σ + Σ_k π_k |μ_k|², noiseless
ARMS = ["plain", "joint"]


def figure(**changes):
    panel = {"name": "fig2c", "setting": "fig2c", "title": "", "layers": 1, "arms": ARMS}
    panel |= {"model": "attention"}
    panel |= {"dashed": "none", "dashed_arms": ARMS, "overlay": "published"} | changes
    filler = dict.fromkeys(RISKS.names, 1.0) | {"setting": "fig2c", "model": "attention"}
    risks = pd.DataFrame([filler | {"arm": arm, "n": n} for arm in ARMS for n in (1, 50)])
    theory = THEORY.empty_table().to_pandas()
    specs = {name: mixture_from_config(name, BLOCK) for name in ("fig2c", "other")}
    tables = Tables(specs, risks, theory, read_published([PUBLISHED]))
    return draw({"layout": "panel", "panels": [panel]}, tables, "")


def hollow(drawn) -> list[np.ndarray]:
    lines = drawn.subfigs[0].axes[0].lines
    return [line.get_xydata() for line in lines if line.get_markerfacecolor() == "none"]


def labels(drawn) -> list[str]:
    return [text.get_text() for text in drawn.subfigs[1].legends[0].get_texts()]


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
    assert "hollow: published by the authors" in labels(drawn)


def test_off_unless_asked_for():
    drawn = figure(overlay="none")
    assert hollow(drawn) == []
    assert not any("published" in label for label in labels(drawn))


def test_setting_without_published_risks_is_named():
    with pytest.raises(ValueError, match=r"overlay: .* setting other; remove it"):
        figure(setting="other")


def test_file_without_a_column_is_named(tmp_path):
    (tmp_path / "p.csv").write_text("setting,model,arm,n\n")
    with pytest.raises(ValueError, match=r"p\.csv: has no column risk"):
        read_published([tmp_path / "p.csv"])


def test_no_files_no_rows():
    assert list(read_published([]).columns) == ["setting", "model", "arm", "n", "risk"]
