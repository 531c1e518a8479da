"""Tables of the docs: each on small frames."""

from __future__ import annotations

import pandas as pd
import pytest
from cells import made
from decoupling.analysis.page_tables import FOUR
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


def test_agreement_of_one_layer():
    """Other layers, and what the paper has not, are left out."""
    rows = [("a", n, "attention", 1, "plain", risk) for n, risk in ((1, 1.1), (2, 2.0))]
    rows += [("b", 1, "attention", 1, "plain", 3.6), ("a", 1, "attention", 2, "plain", 50.0)]
    rows += [("shared", 1, "attention", 1, "plain", 9.0), ("a", 1, "reduced", 1, "plain", 1.5)]
    curves = {("a", 1): (1.0, 1.0), ("a", 2): (2.5, 2.0), ("b", 1): (3.0, 3.6)}
    references = {
        (*point, "plain", curve): risk
        for point, both in curves.items()
        for curve, risk in zip(("theorem", "optimum"), both, strict=True)
    }
    found = made(
        "agreement",
        laptop=risks(rows),
        exact=risks(rows[:1]),
        paper=risks(rows[1:2]),
        published=risks(rows[2:3]),
        theory=theory(references),
    )
    spans = ["+50.00% to +50.00%", "−20.00% to +20.00%", "0.00% to +10.00%", "+10.00% to +10.00%"]
    assert found[0] == ["plain", *spans, "−20.00% to −20.00%", "+20.00% to +20.00%"]
    assert found[1] == ["finetune", *[""] * 6]


def test_what_batches_change():
    points = [("a", n, "attention", 1, arm) for n in (1, 2) for arm in FOUR]
    paper = risks([(*point, 4.4 if point[1] == 1 else 1.9) for point in points])
    exact = risks([(*point, 4.0 if point[1] == 1 else 2.0) for point in points])
    paper = pd.concat([paper, risks([("b", 1, "attention", 2, "plain", 9.0)])])  # deeper
    assert made("batches", paper=paper, exact=exact) == [
        [arm, "2", "−5.00% to +10.00%", "a, attention, n = 1"] for arm in FOUR
    ]
    with pytest.raises(InputError, match=r"exact.parquet lacks a, .* data/exact/risks/a.parquet"):
        made("batches", paper=paper, exact=exact.assign(setting="c"))


def test_the_papers_protocol_on_more_layers():
    """Beside `laptop`'s risks; one layer is in a table of its own."""
    points = [("a", 1, "attention", layers, "joint") for layers in (2, 3, 1)]
    ours = risks([(*points[0], 4.0), (*points[1], 1.9), (*points[2], 9.0)])
    paper = risks([(*points[1], 1.9), (*points[0], 5.0), (*points[2], 9.0)])
    paper = paper.assign(median=[1.9, 7.5, 9])
    first, second = made("paper_deep", laptop=ours, paper=paper)
    best, other = "0.5000 ± 0.0200", "0.4000 ± 0.0200"
    assert first == ["2", "1", "joint", best, "0.7500", other, "+25.0%"]
    assert (second[0], second[-1]) == ("3", "0.0%")


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


def test_gains_by_depth(figure_a2: pd.DataFrame):
    gains = [["0.2000", "20%"], ["0.1000", "10%"], ["0.0667", "7%"]]
    expected = [
        [data, str(depth), *cells, *cells]
        for data in ("clean", "noisy")
        for depth, cells in enumerate(gains, start=1)
    ]
    assert made("depth", laptop=figure_a2) == expected


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
        ["heads", "weights and heads", "fig2a", "0.00% to 0.00%"],
        ["heads", "weights and heads", "fig2d", "−5.00% to +10.00%"],
        ["finetune_heads", "prompts and heads, frozen weights", "fig2a", "+50.00% to +50.00%"],
    ]


def test_excess_over_the_optimum():
    """In percent; of mixtures with more than one task."""
    rows = [
        {"mixture": i, "K": K, "arm": arm, "curve": curve, "risk": 2.0 * (1 + above)}
        for i, K in enumerate((2, 2, 2, 1))
        for arm in ("plain", "finetune", "joint", "joint_heads")
        for curve, above in (("theorem", i / 10), ("centred", 0), ("energy", 0), ("optimum", 0))
    ]
    found = made("mixtures", sampled_mixtures=pd.DataFrame(rows))
    assert found[2] == ["joint", "theorem", "0.00", "10.00", "18.00", "20.00"]
    assert found[4] == ["joint", "centred", *["0.000"] * 4]


def test_seeds_in_random_mixtures():
    rows = {"arm": "joint", "best": [0.0, 0.001], "median": [0.1, 0.2], "within": [50, 21]}
    found = made("random_mixtures", random_mixtures=pd.DataFrame(rows))
    spans = ["0.00% to +0.10%", "+10.00% to +20.00%"]
    assert found == [["joint", *spans, "21 of 50"]]


FAMILIES = ("laptop", "softmax", "transformer")


def test_how_far_to_trust_models_without_a_theorem():
    """Changes are of the risks that are kept."""
    kept = risks([("a", 1, "attention", 2, "joint", 4.0)])
    kept = kept.assign(seeds_total=50, seeds_stopped=2, tail_share=0.05)
    row = {"setting": "a", "n": 1, "layers": 2, "arm": "joint", "risk": 0.4, "changed": 0.32}
    data = dict.fromkeys(FAMILIES, kept)
    data |= {f"{name}_bounds": pd.DataFrame({"holds": [True, False]}) for name in FAMILIES}
    names = ("deep", "softmax", "transformer")
    data |= {f"{name}_doubling": pd.DataFrame([row]) for name in names}
    cells = ["1", "1 of 2", "1 of 50", "5.00%", "5.0%", "−20.0% to −20.0%"]
    assert [found[1:] for found in made("trust", **data)] == [cells] * 3
    with pytest.raises(InputError, match="is compared with"):
        made("trust", **data | {"laptop": kept.assign(normalized=0.41)})


def test_ratios_of_times():
    times = {"ratios": {"a": 1525.4, "b": 0.934}, "softmax_ratios": {"c": 168.7}}
    assert made("speed", speed=times) == [["a", "1,525"], ["b", "0.93"], ["softmax: c", "169"]]


def test_rounding_is_the_largest_of_an_arm():
    rows = pd.DataFrame({"arm": ["plain"] * 2, "best": [-3.3e-16, 0.0], "median": [0.0, 4.5e-7]})
    other = rows.assign(arm="joint", best=2e-16)
    both = pd.concat([rows, other, other.assign(arm="finetune"), other.assign(arm="joint_heads")])
    found = made("rounding", rounding=both, rounding_processors=both.assign(best=-1e-3))
    assert found[0] == ["plain", "3e-16", "4e-07", "1e-03", "4e-07"]


def test_noise_of_batches():
    rows = {"n": [1], "plain_mean": [20.0], "plain_std": [0.1], "finetune_mean": [10.0]}
    noise = pd.DataFrame(rows | {"finetune_std": [0.5]})
    assert made("batch_noise", batch_noise=noise) == [["1", "0.50%", "5.00%"]]


def test_controls():
    values = {"plain": 8.0, "shared": 7.0, "joint": 3.0}
    rows = [("shared", 2, "attention", 1, arm, risk) for arm, risk in values.items()]
    values = {"plain": 8.0, "heads": 6.0, "joint": 4.0, "joint_heads": 2.0}
    rows += [("heads", 2, "attention", 1, arm, risk) for arm, risk in values.items()]
    assert made("controls", laptop=risks(rows)) == [["2", "20%", "25.0%", "50.0%", "75.0%"]]


def test_tasks_that_are_inferred():
    """Plain and joint that is told the task are exact."""
    keys = [("plain", "nothing"), *(("joint", how) for how in ("right", "soft", "wrong"))]
    rows = [
        {"setting": "identity.fig2c", "n": n, "arm": arm, "told": told, "normalized": float(i + n)}
        | {"normalized_se": 0.5, "wrong": 0.1 * n}
        for n in (1, 2)
        for i, (arm, told) in enumerate(keys)
    ]
    (row,) = made("identity", identity=pd.DataFrame(rows))  # n = 2 is not shown
    simulated = [f"{risk}.0000 ± 0.5000" for risk in (3, 4)]
    assert row == ["fig2c", "1", "1.0000", "2.0000", *simulated, "10.0%"]


def test_gap_of_softmax_as_a_share_of_linear_attentions():
    values = {"plain": 4.0, "zero_prompt": 3.9, "joint": 3.0}
    rows = [("softmax_clean", 10, "softmax", 1, arm, risk) for arm, risk in values.items()]
    keys = {("softmax_clean", 10, arm, "theorem"): r for arm, r in (("plain", 3.6), ("joint", 2.6))}
    keys |= {(*key[:3], "optimum"): 9.0 for key in keys}
    (row,) = made("softmax", softmax=risks(rows, normalized_se=0.003), theory=theory(keys))
    assert row == ["clean", "10", "0.1000 ± 0.0042", "0.1000", "100 ± 4%", "10%"]
