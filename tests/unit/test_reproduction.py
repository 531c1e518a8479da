"""The numbers of docs/reproduction.md, recomputed one by one from small tables."""

from __future__ import annotations

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import configs
import pandas as pd
import pytest
from decoupling.results import paper_facts, reproduction
from decoupling.results.kept import Kept, moved
from decoupling.tables import POINT

ROOT = Path(__file__).parents[2]


def risks(rows: list[tuple]) -> pd.DataFrame:
    """From (setting, n, model, layers, arm, risk); E[y²] is 10 and the standard error 0.2."""
    table = pd.DataFrame(rows, columns=[*POINT, "risk"])
    return table.assign(normalized=table.risk / 10, risk_se=0.2, normalized_se=0.02)


def curve(rows: dict[tuple, float]) -> pd.Series:
    return pd.Series(rows).rename_axis(["setting", "n", "arm"])


def test_deviations_of_one_layer() -> None:
    trained = [("a", 1, 1.1), ("a", 2, 2.0), ("b", 1, 3.6)]
    table = risks([(name, n, "attention", 1, "plain", risk) for name, n, risk in trained])
    table = pd.concat([table, risks([("a", 1, "attention", 2, "plain", 50.0)])])
    theorem = curve({("a", 1, "plain"): 1.0, ("a", 2, "plain"): 2.5, ("b", 1, "plain"): 3.0})
    optimum = curve({("a", 1, "plain"): 1.0, ("a", 2, "plain"): 2.0, ("b", 1, "plain"): 3.6})
    (row,) = reproduction.one_layer(table, {"theorem": theorem, "optimum": optimum})
    assert (row["settings"], row["points"]) == (["a", "b"], 3)
    assert row["theorem"] == pytest.approx({"least": -0.2, "most": 0.2})
    assert row["optimum"] == pytest.approx({"least": 0.0, "most": 0.1})


def test_cost_of_assumption_1_at_the_longest_context() -> None:
    references = {"theorem": 4.0, "centred": 3.0, "energy": 2.0, "optimum": 1.0}
    curves = {
        name: curve({("a", n, arm): n * risk for n in (1, 5) for arm in ("plain", "joint")})
        for name, risk in references.items()
    }
    (row,) = reproduction.assumption(curves)
    assert (row["setting"], row["n"]) == ("a", 5)
    assert row["plain"] == {"theorem": 20, "optimum": 5}
    assert row["joint"] == {"theorem": 20, "centred": 15, "energy": 10, "optimum": 5}


def test_gains_by_depth() -> None:
    """n = 1 and 5 are below d, 20 is above; plain's risk 8, joint_heads' 8 less 1, 3 and 2."""
    rows = []
    for depth, letters in enumerate(("ad", "be", "cf"), start=1):
        for letter in letters:
            for n, gain in ((1, 1), (5, 3), (20, 2)):
                for arm, risk in (("plain", 8), ("joint", 8), ("joint_heads", 8 - gain / depth)):
                    rows.append((f"figA2{letter}", n, "attention", depth, arm, float(risk)))
    found = {
        (row["data"], row["layers"], row["short"]): (row["gap"], row["share"])
        for row in reproduction.gains(risks(rows))
    }
    for data in ("clean", "noisy"):
        for depth in (1, 2, 3):
            assert found[data, depth, True] == pytest.approx((0.2 / depth, 0.25 / depth))
            assert found[data, depth, False] == pytest.approx((0.2 / depth, 0.25 / depth))


def test_where_the_papers_claims_on_depth_do_not_hold() -> None:
    """Gaps below d are 3, 2, 1 by depth, above 2, 1, 1.5; shares the same but for one layer."""
    short, long = {1: 3.0, 2: 2.0, 3: 1.0}, {1: 2.0, 2: 1.0, 3: 1.5}
    rows = [
        {"data": "clean", "layers": layers, "short": below, "gap": gap, "share": gap}
        for below, gaps in ((False, long), (True, short))
        for layers, gap in gaps.items()
    ]
    rows[0]["share"] = 9.0
    assert reproduction.exceptions(rows) == {
        "short_gap": ["clean data with 3 layers"],
        "depth_gap": ["clean data with n ≥ d"],
        "short_share": ["clean data with 1 layer", "clean data with 3 layers"],
        "depth_share": ["clean data with n ≥ d"],
    }


def test_the_point_that_batches_change_most() -> None:
    rows = [
        {"arm": arm, "n": n, "change": change}
        for arm, n, change in (("joint", 1, 0.1), ("plain", 1, 0.2), ("joint", 2, -0.3))
    ]
    found = paper_facts.most_changed(rows)
    assert [(row["arm"], row["n"]) for row in found] == [("plain", 1), ("joint", 2)]


def test_the_papers_protocol_by_curve() -> None:
    """Two points of attention, of which one is published, and one of the reduced model."""
    paper = risks(
        [("a", n, "attention", 1, "plain", risk) for n, risk in ((1, 4.4), (2, 1.9))]
        + [("a", 1, "reduced", 1, "plain", 4.8)]
    )
    exact = risks(
        [("a", n, "attention", 1, "plain", risk) for n, risk in ((1, 4.0), (2, 2.0))]
        + [("a", 1, "reduced", 1, "plain", 4.0)]
    )
    published = risks([("a", 2, "attention", 1, "plain", 2.25)])
    theorem = curve({("a", 1, "plain"): 4.0, ("a", 2, "plain"): 2.5})
    kept = Kept(laptop=exact, exact=exact, paper=paper, bounds=exact, costs={}, speed={})
    rows = paper_facts.protocols(kept, {"theorem": theorem}, published)
    assert [(row["model"], row["n"], row["published"]) for row in rows] == [
        ("attention", 1, None),
        ("attention", 2, 2.25),
        ("reduced", 1, None),
    ]
    attention, reduced = paper_facts.by_curve(rows)
    assert (attention["model"], attention["points"]) == ("attention", 2)
    assert attention["change"] == pytest.approx({"least": -0.05, "most": 0.1})
    assert attention["paper"] == pytest.approx({"least": -0.24, "most": 0.1})
    assert attention["published"] == pytest.approx({"least": -0.1, "most": -0.1})
    assert reduced["change"] == pytest.approx({"least": 0.2, "most": 0.2})
    assert reduced["published"] is None


def test_the_papers_protocol_on_more_layers() -> None:
    """Beside `laptop`'s risks; one layer is in a table of its own. Of n = 2 `paper` has not all."""
    points = [("a", 1, "attention", 2, "joint"), ("a", 2, "attention", 2, "joint")]
    deeper = ("b", 2, "attention", 3, "joint")
    other = ("a", 2, "attention", 2, "plain")
    one = ("a", 1, "attention", 1, "joint")
    rows = [(*points[0], 4.0), (*points[1], 2.0), (*other, 3.0), (*deeper, 1.9), (*one, 9.0)]
    laptop = risks(rows)
    laptop["median"] = [4.4, 2.0, 3.0, 1.9, 9.0]
    paper = risks([(*points[0], 5.0), (*points[1], 1.8), (*deeper, 1.9), (*one, 9.0)])
    paper = paper.assign(median=[7.5, 1.8, 1.9, 9.0], seeds_ok=47)
    costs = pd.DataFrame({"setting": ["a", "a", "b"], "n": [1, 2, 2], "core_minutes": 3.0})
    kept = Kept(
        laptop=laptop[laptop.layers > 1],
        exact=laptop,
        paper=paper,
        bounds=laptop,
        costs={"laptop": costs, "paper": costs.assign(core_minutes=40.0)},
        speed={},
    )
    rows = paper_facts.paper_deep(kept)
    expected = [(2, 1, 47), (2, 2, 47), (3, 2, 47)]
    assert [(row["layers"], row["n"], row["ok"]) for row in rows] == expected
    row = rows[0]
    assert (row["paper"], row["laptop"]) == pytest.approx((0.5, 0.4))
    assert (row["median"], row["change"]) == pytest.approx((0.75, 0.25))
    apart = paper_facts.deep_apart(rows)
    assert (apart["above"], apart["furthest"]["n"]) == (1, 1)
    assert apart["change"] == pytest.approx({"least": -0.1, "most": 0.25})
    assert apart["median"] == pytest.approx({"least": 0.0, "most": 0.5})
    assert row["laptop_median"] == pytest.approx(0.44)
    assert [(row["layers"], row["n"]) for row in apart["reversed"]] == [(3, 2)]
    minutes = {"paper": 40, "laptop": 3}
    alike = [{"setting": "a", "n": 1} | minutes, {"setting": "b", "n": 2} | minutes]
    assert paper_facts.deep_minutes(kept) == alike


def test_how_far_deeper_points_can_be_trusted() -> None:
    """The standard error is 0.2; one point of three has one above 1%, and one breaks a bound."""
    table = risks(
        [("a", n, "attention", 2, "plain", risk) for n, risk in ((1, 40), (2, 30), (3, 8))]
    )
    seeds = {"seeds_total": 50, "seeds_ok": 7, "seeds_stopped": [43, 42, 40]}
    table = table.assign(tail_share=[0.1, 0.3, 0.2], **seeds)
    one_layer = risks([("a", 1, "attention", 1, "plain", 1.0)])
    rows = [
        ("a", n, "attention", 2, "plain", bound) for n in (1, 2, 3) for bound in ("joint", "Bayes")
    ]
    bounds = pd.DataFrame(rows, columns=[*POINT, "bound"])
    bounds["holds"] = (bounds.n != 2) | (bounds.bound != "joint")
    bounds = bounds.assign(excess=6.0, excess_se=0.5)
    found = reproduction.trust(pd.concat([table, one_layer]), bounds)
    assert (found["points"], found["bounded"], found["held"]) == (3, 3, 2)
    (row,) = found["broken"]
    assert (row["n"], row["bound"]) == (2, "joint")
    assert (row["relative"], row["errors"]) == pytest.approx((0.2, 12.0))
    assert (found["error"], found["uncertain"]) == (pytest.approx(0.025), 1)
    assert (found["tail"], found["tail_median"], found["heaviest"]["n"]) == (0.3, 0.2, 2)
    assert (found["diverged"], found["seeds"], found["finished"]) == (4, 150, 7)


def test_hours_at_the_papers_protocol() -> None:
    """20,000 steps of 50 seeds: per stage for one layer, per arm for more."""
    steps = {
        "literal n=50": 500.0,
        "minibatch n=50, 50 seeds": 0.36,
        "gram L=2, n=20, 50 seeds": 3.6,
    }
    arms = ("plain", "finetune", "joint")
    one = [("one", n, "attention", 1, arm, 1.0) for n in (1, 2) for arm in arms]
    two = [("two", 1, "attention", 2, arm, 1.0) for arm in ("plain", "joint")]
    spent = pd.DataFrame({"setting": ["one", "one", "two"], "core_minutes": [1.0, 2.0, 4.0]})
    paper = risks([("fig2d", 50, "attention", 1, arm, 1.0) for arm in arms])
    job = pd.DataFrame(
        {"setting": ["fig2d"], "n": [50], "core_minutes": [12.0], "max_rss_mb": [300.0]}
    )
    kept = Kept(
        laptop=risks(one + two),
        exact=paper,
        paper=paper,
        bounds=pd.DataFrame(),
        costs={"laptop": spent, "paper": job},
        speed={"ms_per_seed_step": steps},
    )
    found = {row["figure"]: row for row in reproduction.costs(kept, {"f": ["one"], "g": ["two"]})}
    assert found["f"]["laptop_minutes"] == 3
    assert found["f"]["paper_hours"] == pytest.approx(2 * 2 * 20_000 * 50 * 0.36e-3 / 3600)
    assert found["g"]["paper_hours"] == pytest.approx(2 * 20_000 * 50 * 3.6e-3 / 3600)
    assert (found["f"]["jobs"], found["f"]["measured"]) == (2, 0)
    whole = replace(kept, laptop=pd.concat([kept.laptop, paper]))
    whole.costs["laptop"] = pd.concat([spent, job])
    (row,) = reproduction.costs(whole, {"h": ["fig2d"]})
    assert (row["paper_hours"], row["measured"], row["jobs"]) == (pytest.approx(0.2), 1, 1)
    assert reproduction.job(kept)["literal_hours"] == pytest.approx(3 * 1e6 * 0.5 / 3600)


def test_a_setting_that_exact_lacks_is_named(tmp_path) -> None:
    """One layer at `paper` is compared with `exact`, point by point."""
    kept = shutil.copytree(ROOT / "data/reference", tmp_path / "kept")
    exact = pd.read_parquet(kept / "exact.parquet")
    exact[exact.setting != "fig2d"].to_parquet(kept / "exact.parquet")
    read_kept = runpy.run_path(str(ROOT / "scripts/reproduction.py"))["read_kept"]
    with pytest.raises(SystemExit, match="lacks fig2d"):
        read_kept(kept)


def test_what_rounds_to_zero_is_printed_without_a_sign() -> None:
    formatted = runpy.run_path(str(ROOT / "scripts/reproduction.py"))["formatted"]
    assert formatted("%.4f ± %.1f%%", -1e-9, -1e-9) == "0.0000 ± 0.0%"
    assert formatted("%.2f, %.0f, %.1f", -0.05, -10, -0.04) == "-0.05, -10, 0.0"


def test_points_that_more_training_changes() -> None:
    rows = [{"risk": 0.2, "changed": changed} for changed in (0.1985, 0.1975, 0.2015, 0.3)]
    found = moved(rows, 0.01)
    assert [(row["changed"], row["worse"]) for row in found] == [(0.1975, False), (0.3, True)]
    assert moved([], 0.01) == []


def test_the_page_says_what_a_race_costs() -> None:
    """Contexts that seeds see in a race, over those of one seed."""
    config = configs.read()
    block = config.protocols["laptop"].recipes["deep"]
    running, seen, alone = block.seeds, 0, 0
    for iteration in range(block.general.iterations):
        seen += running * block.general.batch_at(iteration)
        alone += block.general.batch_at(iteration)
        if iteration + 1 in block.general.race_at:
            running = -(-running // 2)
    assert (running, round(seen / alone)) == (4, 11)
    assert "costs as much as eleven" in (ROOT / "docs/reproduction.md.j2").read_text()


def test_changes_are_of_the_risks_that_are_kept(tmp_path) -> None:
    more_training = runpy.run_path(str(ROOT / "scripts/reproduction.py"))["more_training"]
    kept = risks([("a", 1, "softmax", 1, "joint", 4.0)])
    path = tmp_path / "doubling.csv"
    assert more_training(path, kept) == []
    path.write_text("setting,n,layers,arm,risk,changed\na,1,1,joint,0.4,0.3\n")
    assert [row["changed"] for row in more_training(path, kept)] == [0.3]
    with pytest.raises(SystemExit, match="is compared with"):
        more_training(path, kept.assign(normalized=0.41))
