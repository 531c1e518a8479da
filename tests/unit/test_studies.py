"""Figures that the paper does not have: which settings they vary, and what is drawn."""

from __future__ import annotations

from dataclasses import replace

import mixtures
import numpy as np
import pandas as pd
import pytest
from configs import problems, read
from decoupling.figures import assumption1, noise, rates
from decoupling.plan.comparisons import scored
from decoupling.tables import BAYES
from decoupling.theory.theorems import THEOREMS

BASE = {"d": 2, "weights": [1], "means": [1], "covs": [1], "n": [3], "layers": [2]}
RECIPE = {"batch_size": 8, "iterations": 1, "lr": 0.1}
PROTOCOL = {"seeds": 1, "seeds_per_job": 1, "one_layer": RECIPE, "deep": RECIPE}
CONFIG = {
    "protocol": "p",
    "protocols": {"p": PROTOCOL},
    "settings": {"one": BASE, "other": BASE | {"noise_var": 3}},
    "figures": {
        "noise": {"kind": "noise", "setting": "other", "noise_var": [2, 0.5, 0], "n": [1, 4]},
        "rates": {"kind": "rates", "setting": "one", "n": [1, 10]},
        "both": {"kind": "assumption1", "settings": ["other", "one"], "n": [5, 6]},
        "one": {"title": "a panel"},
    },
}
LENGTHS = [1, 10, 100, 1000]
NO_BAYES = BAYES.empty_table().to_pandas()
NONE = pd.DataFrame()  # what a kind does not ask for


def theory_table(mix, lengths=LENGTHS, optimum_share: float = 0.5) -> pd.DataFrame:
    """The theorems, and for the other references shares of them."""
    shares = {"theorem": 1, "centred": 0.8, "energy": 0.6, "optimum": optimum_share}
    rows = [
        {"setting": mix.name, "n": n, "curve": curve, "arm": arm, "normalized": value}
        for n in lengths
        for arm, theorem in THEOREMS.items()
        for curve, share in shares.items()
        for value in [share * theorem(mix, n).risk / mix.label_power]
    ]
    return pd.DataFrame(rows)


def tables(mixes, theory: pd.DataFrame, risks: pd.DataFrame = NONE, bayes=NO_BAYES) -> dict:
    specs = {mix.name: mix for mix in mixes}
    return {"specs": specs, "risks": risks, "theory": theory, "bayes": bayes}


def labels(drawn) -> list[str]:
    return [text.get_text() for text in drawn.subfigs[1].legends[0].get_texts()]


def lines(ax, style: str) -> list[np.ndarray]:
    return [line.get_xydata() for line in ax.lines if line.get_linestyle() == style]


def test_varied_settings_are_of_one_layer_and_four_arms():
    made = read(CONFIG).settings
    assert list(made)[:2] == ["one", "other"]
    for name in ("noise.0", "noise.0.5", "noise.2", "rates.one", "both.other", "both.one"):
        assert made[name].name == name
        assert (made[name].models, made[name].layers) == (("attention",), (1,))
        assert made[name].arms == tuple(THEOREMS)
    assert len(made) == 8
    assert made["noise.0.5"].n == (1, 4)
    assert made["rates.one"].n == (1, 10)
    assert made["both.one"].n == (5, 6)


def test_varied_settings_differ_in_noise_alone():
    made = read(CONFIG).settings
    blocks = [dict(made[f"noise.{value}"].block) for value in (0, 0.5, 2)]
    assert [block.pop("noise_var") for block in blocks] == [0, 0.5, 2]
    own = dict(made["other"].block)
    assert own.pop("noise_var") == 3
    assert blocks == [own] * 3


def test_varied_settings_have_no_figure_or_score_of_their_own():
    made = read(CONFIG)
    assert list(made.figures) == ["both", "noise", "one", "other", "rates", "scoreboard"]
    assert {curve.setting for _, curve in scored(made)} == {"one", "other"}


RATES = {"kind": "rates", "setting": "one", "n": [1, 2]}
NOISE = {"kind": "noise", "setting": "one", "n": [1], "noise_var": [1]}
ASSUMPTION1 = {"kind": "assumption1", "settings": ["one"], "n": [1, 2]}


def without(block: dict, key: str) -> dict:
    return {name: value for name, value in block.items() if name != key}


BAD = {
    "no such setting": (RATES | {"setting": "x"}, "setting: there is no setting 'x'"),
    "no such setting of noise": (NOISE | {"setting": "x"}, "setting: there is no setting 'x'"),
    "one of them": (
        ASSUMPTION1 | {"settings": ["one", "x"]},
        "settings: there is no setting 'x'",
    ),
    "no n": (without(RATES, "n"), "n: is missing; rates needs it"),
    "no setting": (without(RATES, "setting"), "setting: is missing; rates needs it"),
    "no settings": (without(ASSUMPTION1, "settings"), "settings: is missing; assumption1 needs it"),
    "no noise": (without(NOISE, "noise_var"), "noise_var: is missing; noise needs it"),
    "negative noise": (NOISE | {"noise_var": [-1]}, "noise_var[0]: -1 is less"),
    "noise twice": (NOISE | {"noise_var": [1, 1.0]}, "noise_var: [1, 1.0] repeats itself"),
    "noise in rates": (RATES | {"noise_var": [1]}, "noise_var: is for kind noise; put it in"),
    "two kinds": (RATES | {"noise": "one"}, "noise: is a kind of figure; write kind: noise"),
    "bayes in rates": (RATES | {"bayes": True}, "bayes: is for kind noise or panel; put it in"),
    "nothing to fit": (RATES | {"n": [1, 9, 100]}, "n: slopes are fitted to the last decade"),
    "n on a panel": (
        {"setting": "one", "n": [1]},
        "n: is for kind assumption1 or attention_heads or identity or noise or rates;",
    ),
    "bayes on a page": (
        {"kind": "page", "panels": ["one"], "bayes": True},
        "bayes: is for kind noise or panel; put it in the entry of one, or remove it",
    ),
    "bayes as text": (
        {"setting": "one", "bayes": "yes"},
        "bayes: 'yes' is not true or false; give true or false",
    ),
    "study on a page": (
        {"kind": "page", "panels": ["rates"]},
        "panels[0]: there is no panel 'rates'; name a setting or a one-panel figure",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_problem_is_named(name: str):
    block, message = BAD[name]
    assert problems(CONFIG) == []
    (problem,) = problems(CONFIG | {"figures": CONFIG["figures"] | {"bad": block}})
    assert problem.startswith(f"figures.bad.{message}")


def test_rates_say_fitted_and_claimed_slopes():
    mix = mixtures.paper("fig2c")
    lengths = [10**i for i in range(6)]
    drawn = rates.KIND.draw({}, tables([mix], theory_table(mix, lengths)), "")
    assert labels(drawn) == [
        "PT − FT: slope −2.000 (claimed −2)",
        "FT − JT: slope −1.998 (claimed −1)",
        "JT − Theorem 4: slope −0.998",
        "grey: as Corollary 1 claims",
    ]
    ax = drawn.subfigs[0].axes[0]
    gaps = lines(ax, "None")
    expected = [THEOREMS["plain"](mix, n).risk - THEOREMS["finetune"](mix, n).risk for n in lengths]
    np.testing.assert_allclose(gaps[0].T, [lengths, np.array(expected) / mix.label_power])
    for curve, points in zip(lines(ax, "--"), gaps, strict=True):
        np.testing.assert_array_equal(curve[np.isin(curve[:, 0], lengths)], points)
        assert set(range(1, 12)) < set(curve[:, 0])
    for guide, curve, power in zip(lines(ax, "-"), gaps, (-2, -1), strict=False):
        np.testing.assert_allclose(guide[0], curve[3])
        np.testing.assert_allclose(guide[-1, 1], guide[0, 1] * 100.0**power)


def test_rates_without_means_have_no_slope():
    mix = mixtures.paper("fig2b")
    drawn = rates.KIND.draw({}, tables([mix], theory_table(mix)), "")
    assert labels(drawn)[0] == "PT − FT: too small for a slope"


@pytest.mark.parametrize("bayes", [False, True])
def test_noise_has_risks_above_and_gaps_below(bayes: bool):
    values = [0.0, 2.0, 20.0]
    mixes = [replace(mixtures.paper("figA1b"), name=f"s.{v}", noise_var=v) for v in values]
    theory = pd.concat([theory_table(mix, [5, 10]) for mix in mixes])
    trained = theory[theory.curve == "theorem"].assign(
        model="attention",
        normalized=lambda t: 1.1 * t.normalized,
        seeds_ok=lambda t: (t.setting != "s.20.0").astype(int),
    )
    rows = [[mix.name, n, 1.0, 0.0, 0.1, 0.0] for mix in mixes for n in (5, 10)]
    best = pd.DataFrame(rows, columns=BAYES.names) if bayes else NO_BAYES
    drawn = noise.KIND.draw({}, tables(mixes, theory, trained, best), "small print")
    risks, _, gaps, _ = drawn.subfigs[0].axes
    expected = np.array(
        [[t(mix, 5).risk / mix.label_power for mix in mixes] for t in THEOREMS.values()]
    )
    for ax, known in ((risks, expected), (gaps, -np.diff(expected, axis=0))):
        for line_style, scale in (("--", 1), ("None", 1.1)):
            found = [line[np.isin(line[:, 0], values)] for line in lines(ax, line_style)]
            assert all((line[:, 0] == values).all() for line in found)
            np.testing.assert_allclose([line[:, 1] for line in found], scale * known, rtol=1e-9)
        assert all(len(line) > 50 for line in lines(ax, "--"))
    half = replace(mixes[0], noise_var=10.0)
    curve = lines(risks, "--")[1]  # of Theorem 2
    risk = np.interp(10, *curve.T) * half.label_power
    assert risk == pytest.approx(THEOREMS["finetune"](half, 5).risk, rel=1e-4)
    assert "joint prompts and heads, $\\sigma^2$ = 20" in risks.texts[0].get_text()
    assert ("dotted: Bayes-optimal" in labels(drawn)) == bayes
    assert any(len(line) for line in lines(risks, ":")) == bayes


@pytest.mark.parametrize("lowest", [0.0, -0.2])
def test_noise_shows_negative_gaps(lowest: float):
    """A trained arm that ends above the one before it stays in sight."""
    mix = replace(mixtures.paper("figA1b"), name="s.5")
    theory = theory_table(mix, [5])
    trained = theory[theory.curve == "theorem"].assign(model="attention", seeds_ok=1)
    plain = trained[trained.arm == "plain"].normalized.item()
    if lowest:
        trained.loc[trained.arm == "finetune", "normalized"] = plain - lowest
    drawn = noise.KIND.draw({}, tables([mix], theory, trained), "")
    bottom = drawn.subfigs[0].axes[1].get_ylim()[0]
    assert bottom == 0 if lowest == 0 else bottom < lowest


def test_assumption_1_costs_the_theorems_share_above_the_optimum():
    mix = replace(mixtures.paper("fig2c"), name="assumption1.fig2c")
    plot_spec = assumption1.KIND("assumption1", {"settings": ["fig2c"]}).plot_spec(config=None)
    drawn = assumption1.KIND.draw(plot_spec, tables([mix], theory_table(mix)), "")
    upper, lower, parts = drawn.subfigs[0].axes
    assert upper.get_title().startswith("(a) fig2c\n")
    for theorem, optimum in zip(lines(upper, "--"), lines(upper, "None"), strict=True):
        known = theorem[np.isin(theorem[:, 0], LENGTHS)]
        np.testing.assert_allclose(optimum[:, 1], known[:, 1] / 2)
    costs = [line for line in lines(lower, "-") if len(line) == len(LENGTHS)]
    assert len(costs) == 3
    np.testing.assert_allclose([cost[:, 1] for cost in costs], 100)
    heights = [area.get_paths()[0].vertices[:, 1] for area in parts.collections]
    spans = [(height.min(), height.max()) for height in heights]  # label energy, common mean
    np.testing.assert_allclose(spans, [(20, 60), (60, 100)])
