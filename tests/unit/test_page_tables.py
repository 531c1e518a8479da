"""The tables of docs/reproduction.md: each on small frames."""

from __future__ import annotations

import pandas as pd
import pytest
from cells import made
from decoupling.errors import InputError
from decoupling.tables import POINT

KEPT = {"seeds_ok": 47, "risk_se": 0.2, "normalized_se": 0.02}


def risks(rows: list[tuple], **more) -> pd.DataFrame:
    """From (setting, n, model, layers, arm, risk); E[y²] is 10."""
    table = pd.DataFrame(rows, columns=[*POINT, "risk"])
    return table.assign(normalized=table.risk / 10, median=table.risk, **KEPT | more)


def theory(rows: dict[tuple, float]) -> pd.DataFrame:
    """From (setting, n, arm, curve)."""
    keys = pd.MultiIndex.from_tuples(rows, names=["setting", "n", "arm", "curve"])
    table = pd.Series([*rows.values()], keys, name="risk").reset_index()
    return table.assign(normalized=table.risk / 10)


def test_deviations_of_one_layer():
    """Other layers, and what the paper has not, are left out; the theorem is reduced's optimum."""
    rows = [("a", n, "attention", 1, "plain", risk) for n, risk in ((1, 1.1), (2, 2.0))]
    rows += [("b", 1, "attention", 1, "plain", 3.6), ("a", 1, "attention", 2, "plain", 50.0)]
    rows += [("shared", 1, "attention", 1, "plain", 9.0), ("a", 1, "reduced", 1, "plain", 1.5)]
    rows += [("a", 1, "attention", 1, "joint", 1.0)]
    curves = {("a", 1): (1.0, 1.0), ("a", 2): (2.5, 2.0), ("b", 1): (3.0, 3.6)}
    references = {
        (*point, arm, curve): risk
        for point, both in curves.items()
        for arm in ("joint", "plain")
        for curve, risk in zip(("theorem", "optimum"), both, strict=True)
    }
    same = [
        ["attention", "plain", "a, b", "3", "−20.000% to +20.000%", "0.000% to +10.000%"],
        ["attention", "joint", "a", "1", "0.000% to 0.000%", "0.000% to 0.000%"],
        ["reduced", "plain", "a", "1", "+50.000% to +50.000%", "the theorem is its optimum"],
    ]
    table = risks(rows)
    assert made("laptop_one_layer", laptop=table, theory=theory(references)) == same
    assert made("exact_one_layer", exact=table, theory=theory(references)) == same


def papers() -> dict[str, pd.DataFrame]:
    """Two points of attention, of which one is published, and one of the reduced model."""
    points = [("a", 1, "attention", 1, "plain"), ("a", 2, "attention", 1, "plain")]
    points += [("a", 1, "reduced", 1, "plain"), ("b", 1, "attention", 2, "plain")]
    tables = {"paper": (4.4, 1.9, 4.8, 9.0), "exact": (4.0, 2.0, 4.0, 9.0)}
    found = {
        name: risks([(*point, risk) for point, risk in zip(points, values, strict=True)])
        for name, values in tables.items()
    }
    found["exact"] = found["exact"][found["exact"].layers == 1]
    curves = {("a", 1): 4.0, ("a", 2): 2.5}
    found["theory"] = theory({(*point, "plain", "theorem"): r for point, r in curves.items()})
    return found | {"published": risks([(*points[1], 2.25)])}


def test_the_papers_protocol():
    assert made("paper_points", **papers()) == [
        ["a", "attention", "plain", "1", "4.4000", "4.0000", "+10.00%", "4.0000", ""],
        ["a", "attention", "plain", "2", "1.9000", "2.0000", "−5.00%", "2.5000", "2.2500"],
        ["a", "reduced", "plain", "1", "4.8000", "4.0000", "+20.00%", "4.0000", ""],
    ]
    assert [row[3:] for row in made("paper_curves", **papers())] == [
        ["2", "−5.00% to +10.00%", "−24.00% to +10.00%", "−10.00% to −10.00%"],
        ["1", "+20.00% to +20.00%", "+20.00% to +20.00%", ""],
    ]


def test_a_setting_that_exact_lacks_is_named():
    data = papers()
    with pytest.raises(InputError, match=r"exact.parquet lacks a, .* data/exact/risks/a.parquet"):
        made("paper_points", **data | {"exact": data["exact"].assign(setting="b")})


def test_the_papers_protocol_on_more_layers():
    """Beside `laptop`'s risks; one layer is in a table of its own."""
    points = [("a", 1, "attention", layers, "joint") for layers in (2, 3, 1)]
    ours = risks([(*points[0], 4.0), (*points[1], 1.9), (*points[2], 9.0)], seeds_ok=4)
    paper = risks([(*points[1], 1.9), (*points[0], 5.0), (*points[2], 9.0)])
    laptop, paper = ours.assign(median=[4.4, 1.9, 9]), paper.assign(median=[1.9, 7.5, 9])
    first, second = made("paper_deep", laptop=laptop, paper=paper)
    assert first[:4] == ["a", "2", "1", "joint"]
    best, other = "0.50000 ± 0.02000", "0.40000 ± 0.02000"
    assert first[4:] == [best, "0.75000", "47", other, "0.44000", "+25.0%"]
    assert (second[1], second[-1]) == ("3", "0.0%")


def test_cost_of_assumption_1_at_the_longest_context():
    """Deeper figures, and settings that the paper has not, are left out."""
    curves = {"theorem": 4.0, "centred": 3.0, "energy": 2.0, "optimum": 1.0}
    rows = {
        (setting, n, arm, curve): n * risk
        for setting in ("fig1", "figA2a", "shared")
        for n in (1, 5)
        for arm in ("plain", "joint")
        for curve, risk in curves.items()
    }
    cells = ["20.0000", "5.0000", "20.0000", "15.0000", "10.0000", "5.0000"]
    assert made("assumption", theory=theory(rows)) == [["fig1", "5", *cells]]


def test_heads_below_theorem_4():
    """Each number is tested in test_heads.py."""
    expected = ["0.664288", "0.660674", "0.660674", "0.658119", "0.588119"]
    assert [risk for _, risk in made("heads_example")] == expected


@pytest.fixture
def figure_a2() -> pd.DataFrame:
    """n = 1 and 5 are below d, 20 is above; plain's risk is 10, joint_heads' 10 less 1, 3 and 2."""
    rows = []
    for depth, letters in enumerate(("ad", "be", "cf"), start=1):
        for letter in letters:
            for n, gain in ((1, 1), (5, 3), (20, 2)):
                for arm, risk in (("plain", 10), ("joint", 10), ("joint_heads", 10 - gain / depth)):
                    rows.append((f"figA2{letter}", n, "attention", depth, arm, float(risk)))
    return risks(rows)


def test_depth(figure_a2: pd.DataFrame):
    rows = made("deep", laptop=figure_a2)
    assert [row[:2] for row in rows] == [
        [d, n] for d in ("clean", "noisy") for n in ("1", "5", "20")
    ]
    plain = "1.0000 ± 0.0200"
    assert rows[1][2] == "1.0000 / 1.0000 / 0.7000"
    assert rows[1][3] == f"{plain} / {plain} / 0.8500 ± 0.0200"


def test_gains_by_depth(figure_a2: pd.DataFrame):
    gains = [["0.2000", "20%"], ["0.1000", "10%"], ["0.0667", "7%"]]
    expected = [
        [data, str(depth), *cells, *cells]
        for data in ("clean", "noisy")
        for depth, cells in enumerate(gains, start=1)
    ]
    assert made("deep_gains", laptop=figure_a2) == expected


CHANGES = {"deep_doubling": "laptop", "deep_regret": "laptop", "softmax_doubling": "softmax"}


@pytest.mark.parametrize(("table", "name"), CHANGES.items())
def test_changes_are_of_the_risks_that_are_kept(table: str, name: str):
    kept = risks([("a", 1, "softmax", 1, "joint", 4.0)])
    row = {"setting": "a", "n": 1, "layers": 1, "arm": "joint", "risk": 0.4, "changed": 0.32}
    changed = pd.DataFrame([row | {"risk_se": 0.02, "changed_se": 0.01}])
    (cells,) = made(table, **{name: kept, table: changed})
    change = "+25.0%" if table == "deep_regret" else "−20.0%"
    assert cells[-3:] == ["0.4000 ± 0.0200", "0.3200 ± 0.0100", change]
    with pytest.raises(InputError, match="is compared with"):
        made(table, **{name: kept.assign(normalized=0.41), table: changed})


def test_costs():
    """20,000 steps of 50 seeds: per stage for one layer, per arm for more; or as measured, where
    all arms of a job were run."""
    steps = {"minibatch n=50, 50 seeds": 0.36, "gram L=2, n=20, 50 seeds": 3.6}
    arms = ("plain", "finetune", "joint")
    one = [("figa", n, "attention", 1, arm, 1.0) for n in (1, 2) for arm in arms]
    two = [("figAb", 1, "attention", 2, arm, 1.0) for arm in ("plain", "joint")]
    other = [("shared", 1, "attention", 1, "plain", 1.0)]
    jobs = {"setting": ["figa", "figa", "figAb", "shared"], "n": [1, 2, 1, 1]}
    spent = pd.DataFrame(jobs).assign(core_minutes=[1.0, 2.0, 4.0, 8.0])
    data = {
        "laptop": risks(one + two + other),
        "laptop_costs": spent,
        "paper_costs": spent.assign(core_minutes=12.0),
        "speed": {"ms_per_seed_step": steps},
    }
    single, deep = made("costs", paper=risks(one[:1]), **data)
    assert single == ["fig", "3", f"{2 * 2 * 20_000 * 50 * 0.36e-3 / 3600:.1f}", "0 of 2"]
    assert deep == ["figA", "4", f"{2 * 20_000 * 50 * 3.6e-3 / 3600:.1f}", "0 of 1"]
    *_, hours, measured = made("costs", paper=risks(one), **data)[0]
    assert (hours, measured) == ("0.4", "2 of 2")


def test_measured_times():
    data = {"ratios": {"a": 1525.4, "b": 0.934}}
    assert made("speed_ratios", speed=data) == [["a", "1,525"], ["b", "0.93"]]
    step = {"1": {"whole": 36.7, "Adam": 3.59}, "50": {"whole": 161.0, "Adam": 21.6}}
    rows = made("speed_exact_step", speed={"exact_step_us": step})
    assert rows == [["whole", "37", "161"], ["Adam", "4", "22"]]
    times = {"literal softmax": 8.0, "softmax{}, 8 seeds": 0.25, "softmax{}, 50 seeds": 0.05}
    step = {
        (name.format(f" n={n}") if "{}" in name else f"{name} n={n}"): value
        for n in (1, 10, 50)
        for name, value in times.items()
    }
    rows = made("speed_softmax", speed={"ms_per_seed_step": step})
    assert rows == [[n, "8.0", "0.25", "0.050", "32", "160"] for n in ("1", "10", "50")]


def test_small_tables():
    rows = pd.DataFrame({"arm": ["plain"], "best": [-3.3e-16], "median": [4.5e-7]})
    assert made("rounding", rounding=rows) == [["plain", "3.3e-16", "4.5e-07"]]
    rows = {"n": [1], "plain_mean": [20.0], "plain_std": [0.1], "finetune_mean": [10.0]}
    noise = pd.DataFrame(rows | {"finetune_std": [0.5]})
    assert made("batch_noise", batch_noise=noise) == [["1", "0.50%", "5.00%"]]


def test_heads_that_the_authors_trained():
    rows = [
        ("fig2d", 1, "attention", 1, "heads", 2.2),
        ("fig2d", 2, "attention", 1, "heads", 1.9),
        ("fig2a", 1, "attention", 1, "heads", 2.0),
        ("fig2a", 1, "attention", 1, "plain", 7.0),
        ("fig2a", 1, "attention", 1, "finetune_heads", 3.0),
    ]
    optimum = theory({(setting, n, arm, "optimum"): 2.0 for setting, n, _, _, arm, _ in rows})
    assert made("heads_published", published=risks(rows), theory=optimum) == [
        ["heads", "heads and weights", "fig2a", "0.00% to 0.00%"],
        ["heads", "heads and weights", "fig2d", "−5.00% to +10.00%"],
        ["finetune_heads", "heads and prompts on frozen weights", "fig2a", "+50.00% to +50.00%"],
    ]


def test_a_shared_prompt_and_heads_alone():
    values = {"plain": 8.0, "shared": 7.0, "joint": 3.0}
    rows = [("shared", 2, "attention", 1, arm, risk) for arm, risk in values.items()]
    cells = ["2", "0.8000", "0.7000", "0.3000", "20%"]
    assert made("shared", laptop=risks(rows)) == [cells]
    values = {"plain": 8.0, "heads": 6.0, "joint": 4.0, "joint_heads": 2.0}
    rows = [("heads", 2, "attention", 1, arm, risk) for arm, risk in values.items()]
    cells = ["2", "0.8000", "0.6000", "0.4000", "0.2000", "25.0%", "50.0%", "75.0%"]
    assert made("heads", laptop=risks(rows)) == [cells]


def test_joint_by_reference():
    curves = {"theorem": 5.0, "centred": 4.0, "energy": 3.0, "optimum": 2.0}
    rows = {
        (setting, 3, arm, curve): scale * risk
        for setting, arm, scale in (
            ("shared", "joint", 1),
            ("shared", "plain", 9),
            ("a", "joint", 9),
        )
        for curve, risk in curves.items()
    }
    cells = ["3", "5.0000", "4.0000", "3.0000", "2.0000"]
    assert made("centred", theory=theory(rows)) == [cells]


def test_excess_over_the_optimum():
    """In percent; of mixtures with more than one task."""
    rows = [
        {"mixture": i, "K": K, "arm": arm, "curve": curve, "risk": 2.0 * (1 + above)}
        for i, K in enumerate((2, 2, 2, 1))
        for arm in ("plain", "finetune", "joint", "joint_heads")
        for curve, above in (("theorem", i / 10), ("centred", 0), ("energy", 0), ("optimum", 0))
    ]
    found = made("mixtures", sampled_mixtures=pd.DataFrame(rows))
    assert found[2] == ["joint", "Theorem", "0.00", "10.00", "18.00", "20.00"]
    assert found[4] == ["joint", "Theorem 3, centred", *["0.0000"] * 4]


def test_seeds_in_random_mixtures():
    rows = {"arm": "joint", "best": [0.0, 0.001], "median": [0.1, 0.2], "within": [50, 21]}
    found = made("random_mixtures", random_mixtures=pd.DataFrame(rows | {"values": [1, 39]}))
    spans = ["0.00% to +0.10%", "+10.00% to +20.00%"]
    assert found == [["joint", *spans, "21 of 50", "39"]]


def test_what_is_told():
    """Plain and joint that is told the task are exact."""
    keys = [("plain", "nothing"), *(("joint", how) for how in ("right", "soft", "map", "wrong"))]
    keys += [("bayes", "right"), ("bayes", "soft")]
    rows = [
        {"setting": "identity.s", "n": n, "arm": arm, "told": told, "normalized": float(i + n)}
        | {"normalized_se": 0.5, "wrong": 0.1 * n}
        for n in (1, 2)
        for i, (arm, told) in enumerate(keys)
    ]
    (row,) = made("identity", identity=pd.DataFrame(rows))  # n = 2 is not shown
    simulated = [f"{risk}.0000 ± 0.5000" for risk in (3, 4, 5, 6, 7)]
    assert row == ["s", "1", "1.0000", "2.0000", *simulated, "0.1000"]
