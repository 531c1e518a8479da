"""What docs/reproduction.md says in its text of the results that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import mixtures
import pandas as pd
import pytest
import yaml
from decoupling.analysis.page import percent, span
from decoupling.plan.read import load, of_clone
from decoupling.theory.random_mixtures import draw_mixture
from decoupling.theory.theorems import THEOREMS

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "data/archive"
PAGE = " ".join((ROOT / "docs/reproduction.md").read_text().split())
POINT = ["setting", "n", "model", "layers", "arm"]


def kept(name: str) -> pd.DataFrame:
    return pd.read_parquet(KEPT / f"{name}.parquet")


def test_what_a_race_costs():
    """Contexts that seeds see in a race, over those of one seed."""
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    block = config.protocols["laptop"].recipes["deep"]
    running, seen, alone = block.seeds, 0, 0
    for iteration in range(block.general.iterations):
        seen += running * block.general.batch_at(iteration)
        alone += block.general.batch_at(iteration)
        if iteration + 1 in block.general.halved_at:
            running = -(-running // 2)
    assert (running, round(seen / alone)) == (4, 11)
    assert "costs as much as eleven" in PAGE


def test_bounds_hold():
    """Of deeper models points are counted, which have all theirs; else bounds."""
    deep = kept("laptop_bounds").groupby(POINT).holds.all()
    assert deep.all()
    assert f"Of {len(deep)} deeper points {len(deep)} keep all their bounds" in PAGE
    for name in ("softmax", "transformer"):
        bounds = kept(f"{name}_bounds")
        assert bounds.holds.all()
        assert f"{len(bounds)} of {len(bounds)}" in PAGE


def test_how_far_deeper_points_can_be_trusted():
    laptop = kept("laptop")
    deep = laptop[laptop.layers > 1]
    error, tail = deep.risk_se / deep.risk, deep.loc[deep.tail_share.idxmax()]
    assert error.max() < 0.01
    assert f"The largest is {error.max():.2%} of its risk; 0 of the points" in PAGE
    assert f"carry {deep.tail_share.median():.1%} of the risk in the median point" in PAGE
    where = f"({tail.setting}, n = {tail.n}, {tail.arm})"
    assert f"{tail.tail_share:.0%} where it is most {where}" in PAGE
    assert (deep.seeds_ok + deep.seeds_stopped == deep.seeds_total).all()
    finish = f"0 of {deep.seeds_total.sum():,} diverged; {deep.seeds_ok.median():.0f} of 50 finish"
    assert finish in PAGE


def test_seeds_of_softmax():
    softmax = kept("softmax")
    assert (softmax.seeds_ok + softmax.seeds_stopped == softmax.seeds_total).all()
    seeds, stopped = softmax.seeds_total.sum(), softmax.seeds_stopped.sum()
    assert f"0 of {seeds} seeds diverged, {stopped} stopped" in PAGE
    whole = softmax[softmax.seeds_stopped == 0]
    apart = whole["median"] / whole.risk - 1
    within = f"At the {len(whole)} points without a race"
    assert within in PAGE
    assert f"within 1% of the best at {(apart <= 0.01).sum()}" in PAGE
    for row in whole[apart > 0.01].itertuples():
        far = row.median / row.risk - 1
        assert f"{row.setting} n = {row.n} `{row.arm}` ({far:.0%})" in PAGE


@pytest.mark.parametrize(("name", "most"), [("deep", 0.02), ("softmax", 0.01)])
def test_what_twice_the_iterations_move(name: str, most: float):
    rows = pd.read_csv(KEPT / f"{name}_doubling.csv")
    moved = rows[(rows.changed / rows.risk - 1).abs() > most]
    points = [f"{row.setting} n = {row.n} `{row.arm}`" for row in moved.itertuples()]
    if points:
        said = f"Not at their end, with a change of more than {most:.0%}: {', '.join(points)}."
    else:
        said = f"No change is above {most:.0%}."
    assert said in PAGE


def test_what_batches_change():
    """`paper` against `exact`, and of every arm the point that is most changed."""
    both = kept("paper").merge(kept("exact"), on=POINT, suffixes=("", "_exact"))
    both["change"] = both.risk / both.risk_exact - 1
    assert f"batches change the risk reached by {span(both.change, 2)}" in PAGE
    for arm, rows in both.groupby("arm"):
        most = rows.loc[rows.change.abs().idxmax()]
        where = f"{most.setting}, {most.model}, n = {most.n}"
        assert f"`{arm}` at {where} ({percent(most.change)})" in PAGE


def test_the_papers_protocol_on_more_layers():
    both = kept("paper").merge(kept("laptop"), on=POINT, suffixes=("", "_laptop"))
    deep = both[both.layers > 1]
    change = deep.normalized / deep.normalized_laptop - 1
    assert (change > 0).all()
    above = f"At {len(deep)} of these {len(deep)} points"
    assert above in PAGE
    assert f"by up to {percent(change.max(), 0)}" in PAGE
    assert f"the median seed is {span(deep['median'] / deep.risk - 1, 0)} from the best" in PAGE
    laptop = (deep.median_laptop / deep.risk_laptop - 1).max()
    assert f"up to {percent(laptop, 0)} from their best" in PAGE


def test_figure_2b():
    """(d + 1)/(n + d + 1) for zero means and isotropic tasks."""
    laptop = kept("laptop")
    rows = laptop[laptop.setting == "fig2b"]
    furthest = (rows.normalized / (11 / (rows.n + 11)) - 1).abs().max()
    assert furthest < 1e-9
    assert "every point of fig2b by `laptop` is within 10⁻⁹ of it" in PAGE


def test_gains_by_depth():
    """Where they are not as the paper says; d = 10."""
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
    assert (gaps[True] > gaps[False]).all()
    other = shares.index[shares[True] <= shares[False]]
    assert [*other] == [("clean", 2), ("clean", 3)]
    assert f"the least share on noisy data is {shares.loc['noisy'].min().min():.0%}" in PAGE
    narrows = {
        name: values.stack().unstack("layers").diff(axis=1).iloc[:, 1:].lt(0).all(axis=1)
        for name, values in (("gap", gaps), ("share", shares))
    }
    assert narrows["gap"].all()
    assert [*narrows["share"].index[~narrows["share"]]] == [("clean", False)]


def test_random_mixtures():
    rows = pd.read_csv(KEPT / "random_mixtures.csv")
    tasks = ", ".join(map(str, rows.drop_duplicates("mixture").K.sort_values()))
    lengths = " and ".join(map(str, rows.n.unique()))
    assert f"{rows.mixture.nunique()} others (K = {tasks}), at n = {lengths}," in PAGE
    heads = rows[rows.arm == "joint_heads"]
    lost = heads[heads.within < 25]
    assert set(lost.d) == {2}
    assert f"at {len(lost)} of {len(heads)} points, all of d = 2, more than half miss" in PAGE
    late = rows[rows.within < 45].sort_values(["values", "within"]).iloc[0]
    where = f"({late.arm}, d = {late.d}, K = {late.K}, n = {late.n})"
    ended = f"At one point {where} all 50 seeds end at only {late['values']} different risks"
    assert f"{ended}, of which {50 - late.within} miss" in PAGE


def test_how_many_random_mixtures_have_two_tasks():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())["figures"]["mixtures"]
    tasks = [draw_mixture(config["seed"], index)[0].tasks for index in range(config["count"])]
    several = sum(count > 1 for count in tasks)
    assert f"Of {len(tasks)} random mixtures" in PAGE
    assert f"{several} have two tasks or more" in PAGE


SOFTMAX = {"softmax_clean": "fig2c", "softmax_noisy": "figA1b"}  # whose mixtures they have


def softmax_points() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Normalised risks by setting and n, their errors, and the theorems of linear attention."""
    rows = kept("softmax")
    rows = rows[rows.setting.isin(SOFTMAX)]
    risk, error = (
        rows.pivot(index=["setting", "n"], columns="arm", values=name)
        for name in ("normalized", "normalized_se")
    )
    return risk, error, pd.DataFrame([linear(*point) for point in risk.index], risk.index)


def linear(setting: str, n: int) -> dict[str, float]:
    mix = mixtures.paper(SOFTMAX[setting])
    risks = {arm: form(mix, n).risk / mix.label_power for arm, form in THEOREMS.items()}
    return risks | {"shared": risks["plain"]}  # the means have no mean


def ends(values: pd.Series, text: str = "{:.0%}") -> str:
    return " to ".join(text.format(value + 0.0) for value in (values.min(), values.max()))


def test_softmax_beside_linear_attention():
    """What is kept of the gap, and what of it the controls have, from n = 10 on; and at n = 1."""
    risk, error, theorem = softmax_points()
    gap = risk.plain - risk.joint
    long = risk.index.get_level_values("n") >= 10
    share = (gap / (theorem.plain - theorem.joint))[long]
    assert f"softmax keeps {ends(share)} of linear attention's gap" in PAGE
    for control in ("zero_prompt", "shared"):
        part = ((risk.plain - risk[control]) / gap)[long]
        assert (round(100 * part.min()), round(100 * part.max())) == (-1, 0)
    alone = risk.xs(1, level="n")
    parts = (alone.plain - alone.zero_prompt) / (alone.plain - alone.joint)
    assert f"{' and '.join(f'{part:.0%}' for part in parts)} of the gap there" in PAGE
    off = (risk / theorem - 1)[long]
    assert f"from n = 10 on it ends {ends(off.joint)} above Theorem 3" in PAGE
    assert f"task heads end {ends(off.joint_heads)} above Theorem 4" in PAGE
    below = risk.finetune < theorem.finetune - 2 * error.finetune
    points = [f"{setting.removeprefix('softmax_')} n = {n}" for setting, n in risk.index[below]]
    assert f"below Theorem 2 at {', '.join(points)}, on weights" in PAGE


def test_attention_that_prompts_have():
    """As multiples of an even split, and what a tenth is below over the mean from n = 10 on."""
    shares = kept("softmax_prompt_share")
    first = shares[(shares["head"] == 1) & (shares.n > 1)]
    for _, rows in first.groupby("arm"):
        assert ends(rows.share * (rows.n + 1), "{:.2f}") in PAGE
        long = rows[rows.n >= 10]
        assert ends(long.low / long.share, "{:.2f}") in PAGE


def test_attention_heads_below_linear_attention():
    """By more than two standard errors; the arms that the table has."""
    rows = kept("softmax")
    found = {}
    for row in rows[rows.setting.str.startswith("softmax_heads.")].itertuples():
        known = linear("softmax_clean", row.n)
        if row.arm in known and row.normalized < known[row.arm] - 2 * row.normalized_se:
            found.setdefault((int(row.setting[-1]), row.n), set()).add(row.arm)
    expected = {(4, 10): {"plain", "shared"}, (8, 10): {"plain", "shared", "joint"}}
    assert found == expected | {(8, 50): {"joint"}}
    assert "with 4 at n = 10 `plain` and `shared`; with 8 at n = 10 `plain`, `shared`" in PAGE


def test_gains_of_transformers():
    """What task prompts take off plain, best and median seeds."""
    rows = kept("transformer").set_index(["layers", "arm"])
    for who, risk in (("best", rows.risk), ("median", rows["median"])):
        one, two = (1 - risk[layers, "joint"] / risk[layers, "plain"] for layers in (1, 2))
        assert f"{who} seeds, {one:.0%} with 1 block and {two:.0%} with 2 blocks" in PAGE
    changed = pd.read_csv(KEPT / "transformer_doubling.csv").set_index(["layers", "arm"]).changed
    for layers in (1, 2):
        own, common = (
            1 - changed[layers, arm] / changed[layers, "plain"] for arm in ("joint", "shared")
        )
        assert f"task prompts take {own:.0%} off plain, and one prompt for all {common:.0%}" in PAGE


def test_what_it_costs():
    costs = pd.read_csv(KEPT / "paper_costs.csv").set_index(["setting", "n"])
    job = costs.loc[("fig2d", 50)]
    assert f"took {job.core_minutes:.1f} core-minutes and {job.max_rss_mb:.0f} MB" in PAGE
    step = json.loads((KEPT / "speed.json").read_text())["ms_per_seed_step"]
    literal = 4 * 50 * 20_000 * step["literal n=50"] / 3.6e6
    assert f"{literal:.0f} core-hours" in PAGE
    assert f"{60 * literal / job.core_minutes:,.0f} times as much" in PAGE
    laptop = pd.read_csv(KEPT / "laptop_costs.csv").set_index(["setting", "n"]).core_minutes
    for n in (10, 20):
        paper, ours = costs.core_minutes["figA2b", n], laptop["figA2b", n]
        assert f"{paper:.0f} core-minutes instead of {ours:.1f} for figA2b at n = {n}" in PAGE
    blocks = [step[f"transformer L={layers}, n=10, 8 seeds"] for layers in (1, 2)]
    assert "{:.1f} ms with one block and {:.1f} with two".format(*blocks) in PAGE
