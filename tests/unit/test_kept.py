"""Statements of the docs on archived results that no table has."""

from __future__ import annotations

from pathlib import Path

import mixtures
import numpy as np
import pandas as pd
import yaml
from decoupling.analysis.gate import REDUCED, out_of_gate, with_theory
from decoupling.plan.read import load, of_clone
from decoupling.theory.random_mixtures import draw_mixture

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "data/archive"
FINDINGS = " ".join((ROOT / "docs/findings.md").read_text().split())
README = " ".join((ROOT / "README.md").read_text().split())
TRAINING = " ".join((ROOT / "docs/training.md").read_text().split())


def kept(name: str) -> pd.DataFrame:
    return pd.read_parquet(KEPT / f"{name}.parquet")


def test_what_halving_costs():
    """Contexts that seeds see, over those of one seed."""
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    block = config.protocols["laptop"].recipes["deep"]
    running, seen, alone = block.seeds, 0, 0
    for iteration in range(block.general.iterations):
        seen += running * block.general.batch_at(iteration)
        alone += block.general.batch_at(iteration)
        if iteration + 1 in block.general.halved_at:
            running = -(-running // 2)
    assert (running, round(seen / alone)) == (4, 11)
    assert "this costs as much as eleven seeds" in TRAINING


def test_what_halving_misses():
    rows = pd.read_csv(KEPT / "deep_regret.csv")
    assert 0.0005 <= (rows.risk / rows.changed - 1).max() < 0.001
    assert len(rows) == 6
    assert "the halved run's best was at most 0.1% worse" in TRAINING


def test_best_and_median_seed_end_at_the_optimum():
    points = pd.read_csv(KEPT / "points/points.csv")
    rows = points[(points.protocol == "laptop") & (points.model == "attention")]
    rows = rows[rows.optimum.notna()]
    assert len(rows) > 200
    np.testing.assert_allclose(rows.risk, rows.optimum, rtol=1e-5)  # six digits are written
    np.testing.assert_allclose(rows["median"], rows.optimum, rtol=1e-5)
    assert (rows.seeds_ok == 50).all()


def test_deeper_bounds_and_gains():
    laptop = kept("laptop")
    deep = laptop[laptop.setting.str.startswith("figA2")]
    data = deep.setting.str[-1].lt("d").map({True: "clean", False: "noisy"})
    risk = deep.assign(data=data, short=deep.n < 10).pivot(
        index=["data", "short", "n", "layers"], columns="arm", values="normalized"
    )
    gap = risk.plain - risk.joint_heads
    gaps, shares = (
        values.groupby(["data", "short", "layers"]).mean().unstack("short")
        for values in (gap, gap / risk.plain)
    )
    assert (gaps[True] > gaps[False]).all()  # parameters help most for n < d
    other = shares.index[shares[True] <= shares[False]]
    assert [*other] == [("clean", 2), ("clean", 3)]
    assert gaps.stack().unstack("layers").diff(axis=1).iloc[:, 1:].lt(0).all(axis=None)


def test_figure_2b():
    """(d + 1)/(n + d + 1) for zero means and isotropic tasks."""
    laptop = kept("laptop")
    rows = laptop[laptop.setting == "fig2b"]
    assert (rows.normalized / (11 / (rows.n + 11)) - 1).abs().max() < 1e-9
    assert "all points are (d + 1)/(n + d + 1) to nine digits" in FINDINGS


def test_how_many_random_mixtures_have_two_tasks():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())["figures"]["mixtures"]
    tasks = [draw_mixture(config["seed"], index)[0].tasks for index in range(config["count"])]
    assert f"{sum(count > 1 for count in tasks)} random mixtures with two tasks" in FINDINGS


def test_predictions_on_real_data_where_the_gate_holds():
    real = kept("real")
    good = pd.concat(
        with_theory(rows, REDUCED, "attention")
        for _, rows in real.groupby("setting")
        if not out_of_gate(rows)
    )
    within = ((good.normalized - good.measured).abs() <= 2 * good.measured_se).sum()
    assert f"at {within} of {len(good)} points" in FINDINGS
    close = (good.normalized - good.measured).abs() <= 2 * good.measured_se
    counts = close.groupby(good.model).agg(["sum", "count"])
    assert "at {} of {} points".format(*counts.loc["reduced"]) in README
    assert "for attention at {} of {} with heads".format(*counts.loc["attention"]) in README


def test_predictions_of_attention_without_heads_where_the_gate_holds():
    real = kept("real").groupby("setting").filter(lambda rows: not out_of_gate(rows))
    rows = real[(real.model == "attention") & (real.arm != "joint_heads")]
    within = ((rows.normalized - rows.measured).abs() <= 2 * rows.measured_se).sum()
    assert f"only {within} of its {len(rows)} points without heads agree" in FINDINGS
    assert f"with heads, and {within} of {len(rows)} without heads." in README


def test_distance_of_the_means():
    mixes = [mixtures.paper(name) for name in ("fig2c", "fig2d")]
    apart = [np.linalg.norm(mix.means[0] - mix.means[1]) for mix in mixes]
    assert f"task means are {min(apart):.0f} to {max(apart):.1f} apart" in FINDINGS


def test_what_transformers_and_softmax_cost():
    text = (ROOT / "docs/performance.md").read_text()
    for name, what in (("softmax", "its companions take"), ("transformer", "the transformer")):
        minutes = pd.read_csv(KEPT / f"{name}_costs.csv").core_minutes.sum()
        assert f"{what} {minutes:.0f}" in text
