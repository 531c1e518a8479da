"""Random mixtures: each can be drawn again by its number, and all are within what is stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
from decoupling.figures.mixtures import KIND
from decoupling.tables import SAMPLED
from decoupling.theory.excess import excess, several_tasks
from decoupling.theory.optimum import optima
from decoupling.theory.random_mixtures import draw_mixture, sampled_table
from decoupling.theory.theorems import CLOSED_FORMS


def test_a_mixture_depends_on_its_number_alone():
    rows = sampled_table(7, 3, 4)
    assert rows[len(rows) // 2 :] == sampled_table(7, 4, 4)
    assert set(SAMPLED.names) <= set(rows[0])
    mix, n = draw_mixture(7, 3)
    value = {(row["curve"], row["arm"]): row["risk"] for row in rows if row["mixture"] == 3}
    assert value["theorem", "joint"] == CLOSED_FORMS["theorem"]["joint"](mix, n).risk
    assert value["optimum", "shared"] == optima(mix, n)["shared"]


def test_mixtures_are_as_stated():
    drawn = [draw_mixture(0, i) for i in range(400)]
    assert {mix.tasks for mix, _ in drawn} == set(range(1, 5))
    assert {mix.dim for mix, _ in drawn} == set(range(1, 9))
    assert {n for _, n in drawn} <= set(range(1, 65))
    eigenvalues = np.concatenate([np.linalg.eigvalsh(mix.covs).ravel() for mix, _ in drawn])
    assert eigenvalues.min() >= 0.25
    assert eigenvalues.max() <= 4
    silent = np.mean([mix.noise_var == 0 for mix, _ in drawn])
    assert abs(silent - 1 / 3) < 4 * (2 / 9 / 400) ** 0.5
    assert max(mix.noise_var for mix, _ in drawn) <= 3


def test_figure_shows_the_distribution():
    sampled = pd.DataFrame(sampled_table(1, 0, 9))
    drawn = KIND.draw({}, {"sampled": sampled}, "")
    ax = drawn.subfigs[0].axes[0]
    shown = several_tasks(sampled)
    count = shown.mixture.nunique()
    assert count == len({i for i in range(10) if draw_mixture(1, i)[0].tasks > 1})
    steps = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) == count + 1]
    assert len(steps) == 6
    printed, centred, energy = steps[2], steps[4], steps[5]
    np.testing.assert_allclose(printed[1:, 0], np.sort(excess(shown, "theorem", "joint")))
    np.testing.assert_allclose(printed[:, 1], np.arange(count + 1) / count)
    assert (centred[1:, 0] <= printed[1:, 0] + 1e-9).all()
    assert (energy[1:, 0] <= centred[1:, 0] + 1e-9).all()
