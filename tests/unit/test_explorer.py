"""What the explorer's page is given. What it makes of it is for tests/system, in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from decoupling.figures.explorer import page_data
from decoupling.models.arms import ARMS
from decoupling.problem.family import MOST_DIM, MOST_TASKS, controls
from decoupling.problem.mixture import TaskMixture
from decoupling.sources.gaussian.block import make_spec
from decoupling.tables import BAYES, RISKS, read_all, read_published
from mixtures import NONISO, PAPER_BLOCKS, paper

ROOT = Path(__file__).parents[2]
KEPT = read_all([ROOT / "data/archive/laptop.parquet"], RISKS)
PUBLISHED = read_published(ROOT / "data/published/authors_risks.csv")
NO_BAYES = read_all([], BAYES)


def test_controls_are_the_numbers_of_the_config():
    for name, block in PAPER_BLOCKS.items():
        found = controls(paper(name))
        assert found == {"cov_base": None, "noise_var": 0} | block


@pytest.mark.parametrize("name", PAPER_BLOCKS)
def test_controls_describe_the_whole_mixture(name: str):
    found = controls(paper(name))
    block = {key: value for key, value in found.items() if value is not None}
    assert make_spec(name, block).fingerprint == paper(name).fingerprint


def test_scales_of_a_diagonal_that_is_no_first_covariance():
    block = PAPER_BLOCKS["figA1d"] | {"covs": [0.3, 0.7]}
    found = controls(make_spec("x", block))
    assert found["covs"][0] == 1
    again = make_spec("x", {key: value for key, value in found.items() if key != "cov_base"})
    assert not np.allclose(again.covs, make_spec("x", block).covs)
    again = make_spec("x", found)
    np.testing.assert_allclose(again.covs, make_spec("x", block).covs, rtol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"means": [[1.0, 2.0], 0]},
        {"covs": [1, [[1.0, 0.5], [0.5, 1.0]]]},
        {"covs": [1, [[1.0, 0.0], [0.0, 2.0]]]},
        {"sigma_x": [1.0, 2.0]},
        {"d": MOST_DIM + 1},
        {
            "weights": [1 / (MOST_TASKS + 1)] * (MOST_TASKS + 1),
            "means": [0] * (MOST_TASKS + 1),
            "covs": [1] * (MOST_TASKS + 1),
        },
    ],
    ids=["mean", "correlated", "two diagonals", "inputs", "dimension", "tasks"],
)
def test_other_mixtures_have_no_controls(change: dict):
    block = {"d": 2, "weights": [0.5, 0.5], "means": [1, 0], "covs": [1, 2]}
    assert controls(make_spec("x", block))
    assert controls(make_spec("x", block | change)) is None


def data_of(mix: TaskMixture, setting: str, layers: int = 1) -> dict:
    preset = {"name": setting, "setting": setting, "layers": layers, "n": [5, 1]}
    return page_data([preset], {setting: mix}, KEPT, PUBLISHED, NO_BAYES)


def test_colours_and_markers_are_the_figures():
    arms = data_of(paper("fig2c"), "fig2c")["arms"]
    assert list(arms) == list(ARMS)
    assert [arms[arm]["colour"] for arm in arms] == [entry.colour for entry in ARMS.values()]
    assert len({arms[arm]["symbol"] for arm in arms}) == len(arms)


def test_points_are_the_kept_and_the_published_risks():
    (preset,) = data_of(paper("fig2c"), "fig2c")["presets"]
    kept = KEPT[(KEPT.setting == "fig2c") & (KEPT.model == "attention")]
    assert len(preset["trained"]) == len(kept) == 4 * 6
    for point in preset["trained"]:
        row = kept[(kept.arm == point["arm"]) & (kept.n == point["n"])]
        assert point["risk"] == row.risk.item()
    authors = PUBLISHED[(PUBLISHED.setting == "fig2c") & (PUBLISHED.model == "attention")]
    assert sorted(p["risk"] for p in preset["published"]) == sorted(authors.risk)
    assert preset["n"] == [1, 5]


def test_depths_have_their_own_points():
    mix = replace(paper("figA2a"), name="figA2b")
    assert len(data_of(mix, "figA2b", layers=2)["presets"][0]["trained"]) == 3 * 7
    assert data_of(mix, "figA2b", layers=1)["presets"][0]["trained"] == []


def test_kept_risks_of_another_mixture_are_left_out(caplog: pytest.LogCaptureFixture):
    """A setting of the same name whose numbers somebody changed."""
    changed = replace(paper("fig2c"), noise_var=1.0)
    (preset,) = data_of(changed, "fig2c")["presets"]
    assert preset["trained"] == preset["published"] == []
    assert "belong to another mixture" in caplog.text


def test_simulated_bayes_risks_are_the_tables():
    row = {"setting": "fig2c", "n": 3, "risk": 7.0, "risk_se": 0.1}
    bayes = pd.DataFrame([row, row | {"setting": "fig2d"}])
    preset = {"name": "fig2c", "setting": "fig2c", "layers": 1, "n": [3]}
    data = page_data([preset], {"fig2c": paper("fig2c")}, KEPT, PUBLISHED, bayes)
    assert data["presets"][0]["bayes"] == [{"n": 3, "risk": 7.0, "risk_se": 0.1}]


def test_a_preset_that_the_page_cannot_show_is_named():
    block = PAPER_BLOCKS["figA1c"] | {"sigma_x": NONISO}
    with pytest.raises(ValueError, match=r"settings\.fig2c"):
        data_of(make_spec("fig2c", block), "fig2c")
