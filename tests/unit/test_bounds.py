"""Bounds of models without a theorem: who contains whom, and paired differences."""

from __future__ import annotations

from dataclasses import replace

import configs
import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling import engines, models
from decoupling.analysis.aggregate import read_parameters
from decoupling.analysis.bounds import bounds
from decoupling.models.arms import ARMS
from decoupling.models.attention import Attention
from decoupling.models.curve import Curve
from decoupling.plan import comparisons
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.tables import BOUND_ERRORS, PARAMETERS, read_table, write_table
from decoupling.train.loop import Trained, train
from decoupling.train.recipe import Recipe, Run
from mixtures import MODEL_ARMS, literal_risk, tensors

MIX = mixtures.random_mixture(np.random.default_rng(11), 3, 2, 0.5)
CONTEXTS = GaussianContexts(MIX, 6)
COUNT = 3000
RECIPE = Recipe(batch_size=256, iterations=60, lr=0.02, test_contexts=COUNT, init_std=0.05)
BAYES = {"risk": 0.6, "risk_se": 0.001}


def softmax(arm: str, heads: int = 2, setting: str = "own") -> Curve:
    sizes = (("attention_heads", heads),)
    return Curve(setting, "softmax", "softmax", 1, arm, ARMS[arm].trains, sizes)


def transformer(arm: str, layers: int = 1, width: int = 8) -> Curve:
    sizes = (("width", width), ("attention_heads", 2))
    return Curve("own", "transformer", "transformer", layers, arm, ARMS[arm].trains, sizes)


def member(layers: int = 2, arm: str = "joint", setting: str = "own", model="attention") -> Curve:
    module = "deep_attention" if layers > 1 else model
    return Curve(setting, module, model, layers, arm, ARMS[arm].trains)


CONTAINS = [  # whether the first contains the second, and by which name
    (member(arm="joint"), member(arm="plain"), "plain"),
    (member(arm="joint_heads"), member(arm="joint"), "joint"),
    (member(arm="joint_heads"), member(arm="plain"), "plain"),
    (member(arm="joint"), member(arm="shared"), "shared"),
    (member(arm="shared"), member(arm="plain"), "plain"),
    (member(arm="joint"), member(arm="finetune"), "finetune"),
    (member(arm="joint_heads"), member(arm="heads"), "heads"),
    (member(arm="plain"), member(arm="joint"), None),
    (member(arm="shared"), member(arm="joint"), None),
    (member(arm="finetune"), member(arm="plain"), None),
    (member(arm="heads"), member(arm="joint"), None),
    (member(arm="plain"), member(arm="plain"), None),
    (member(3), member(2, setting="other"), "2 layers"),
    (member(2), member(1, setting="other"), "1 layer"),
    (member(2), member(1), "1 layer"),
    (member(3), member(1), None),
    (member(2), member(3), None),
    (member(2, "joint"), member(1, "plain", setting="other"), None),
    (member(2, "joint"), member(2, "plain", setting="other"), None),
    (member(2), member(1, model="reduced"), None),
    (member(2, "finetune"), member(1, "finetune"), None),  # on other frozen weights
    # Softmax hears a prompt of zeros: no prompt is a case of nothing, and nothing of no prompt.
    (softmax("shared"), softmax("plain"), None),
    (softmax("joint"), softmax("plain"), None),
    (softmax("zero_prompt"), softmax("plain"), None),
    (softmax("heads"), softmax("plain"), "plain"),
    (softmax("shared"), softmax("zero_prompt"), "zero_prompt"),
    (softmax("joint"), softmax("shared"), "shared"),
    (softmax("joint"), softmax("finetune"), "finetune"),
    (softmax("joint_heads"), softmax("joint"), "joint"),
    (softmax("joint"), softmax("joint_heads"), None),
    (softmax("joint", 4), softmax("joint", 2, "other"), "2 attention heads"),
    (softmax("plain", 2), softmax("plain", 1, "other"), "1 attention head"),
    (softmax("joint", 4), softmax("joint", 1, "other"), "1 attention head"),
    (softmax("joint", 2), softmax("joint", 4, "other"), None),
    (softmax("joint", 4), softmax("shared", 4, "other"), None),
    (softmax("finetune", 4), softmax("finetune", 2, "other"), None),
    (transformer("joint", 2), transformer("joint", 1), "1 layer"),
    (transformer("joint", 2), transformer("joint", 1, 16), None),
    (transformer("joint"), transformer("shared"), "shared"),
    (transformer("joint"), transformer("plain"), None),
]


@pytest.mark.parametrize(("one", "other", "name"), CONTAINS)
def test_who_contains_whom(one: Curve, other: Curve, name: str | None):
    assert one.includes(other) == name


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
def test_errors_of_one_layer_are_those_of_the_literal_model(model: str, arm: str):
    made, params = mixtures.random_parameters(MIX, model, arm, range(2))
    sequences = literal.draw_sequences(MIX, 6, 60, torch.Generator().manual_seed(2))
    by_task = torch.argsort(sequences.task, stable=True)
    engine = engines.load("moments")(CONTEXTS)
    found = engine.errors(made, params, mixtures.gram_batch(sequences, MIX.tasks)) + MIX.noise_var
    for seed in range(2):
        expected = literal_risk(tensors(params, seed), sequences, MIX)[by_task]
        np.testing.assert_allclose(found[seed], expected, rtol=1e-9)


@pytest.fixture(scope="module")
def members() -> list[Curve]:
    return [member(2, "plain"), member(2, "joint"), member(1, "joint", setting="other")]


@pytest.fixture(scope="module")
def trained(members: list[Curve]) -> Trained:
    found = Trained([], [])
    for one in members:
        contexts = GaussianContexts(replace(MIX, name=one.setting), 6)
        run = Run(one, RECIPE)
        made = train(contexts, [run], range(2))
        found.rows.extend(made.rows)
        found.parameters.extend(made.parameters)
    return found


@pytest.fixture(scope="module")
def parameters(trained: Trained, members, tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("kept") / "parameters.parquet"
    write_table(path, trained.parameters, PARAMETERS)
    return read_parameters(read_table(path, PARAMETERS), members)[6]


def test_differences_are_of_the_reported_risks_and_paired(members, trained, parameters):
    """On the contexts of the report, so that both sides are the rows' own risks."""
    found = {
        (row["arm"], row["bound"]): row
        for row in bounds(CONTEXTS, members, "own", parameters, BAYES, COUNT)
    }
    assert set(found) == {
        ("joint", "plain"), ("joint", "1 layer"), ("joint", "Bayes"), ("plain", "Bayes")
    }  # fmt: skip

    def errors(one: Curve) -> np.ndarray:
        model = models.load(one.module)(MIX.dim, MIX.tasks, one.layers)
        engine = engines.load(model.engine)(CONTEXTS)
        arrays = {name: engine.from_numpy(value[None]) for name, value in parameters[one].items()}
        return engine.errors(model, arrays, CONTEXTS.importance_batch(Stream.REPORT, 0, COUNT))[0]

    plain, joint, one_layer = map(errors, members)
    for bound, other in (("plain", plain), ("1 layer", one_layer)):
        row, gap = found["joint", bound], joint - other
        assert row["excess"] == pytest.approx(gap.mean(), rel=1e-4, abs=1e-6)
        assert row["excess_se"] == pytest.approx(gap.std(ddof=1) / COUNT**0.5, rel=1e-4)
        assert row["holds"] == (gap.mean() <= BOUND_ERRORS * gap.std() / COUNT**0.5)
    best = {
        arm: min(
            (r for r in trained.rows if (r["layers"], r["arm"]) == (2, arm)),
            key=lambda r: r["selection_risk"],
        )["risk"]
        for arm in ("plain", "joint")
    }
    assert found["joint", "plain"]["excess"] == pytest.approx(
        best["joint"] - best["plain"], rel=1e-3
    )
    below = found["plain", "Bayes"]["excess"]
    assert below == pytest.approx(BAYES["risk"] - best["plain"], rel=1e-4)


def test_a_worse_model_breaks_its_bound(members, parameters):
    """The deeper one switched off altogether predicts 0; the one-layer model does better."""
    off = {name: np.zeros_like(value) for name, value in parameters[members[1]].items()}
    broken = {**parameters, members[1]: off}
    rows = bounds(CONTEXTS, members, "own", broken, BAYES, COUNT)
    holds = {(row["arm"], row["bound"]): row["holds"] for row in rows}
    assert not holds["joint", "1 layer"]
    assert holds["joint", "Bayes"]


def test_below_bayes_is_seen(members, parameters):
    rows = bounds(CONTEXTS, members, "own", parameters, {"risk": 1e6, "risk_se": 1.0}, COUNT)
    assert {row["holds"] for row in rows if row["bound"] == "Bayes"} == {False}


def compared(setting: str, **settings) -> list[tuple[str, int, str]]:
    """With what a setting's bounded curves are evaluated."""
    config = configs.read(configs.SHIPPED | {"settings": configs.SHIPPED["settings"] | settings})
    found = comparisons.members(config, setting)
    assert {one.setting for one in found} | {setting} == set(comparisons.relatives(config, setting))
    return [(one.setting, one.layers, one.arm) for one in found]


def test_depths_of_a_mixture_are_found_by_its_numbers():
    arms = ("plain", "joint", "joint_heads")
    deeper = [("figA2c", 3, arm) for arm in arms]
    assert compared("figA2c") == deeper + [("figA2b", 2, arm) for arm in arms]
    assert compared("figA2e")[3:] == [("figA2d", 1, arm) for arm in arms]


def test_one_curve_of_a_kind_and_none_that_nobody_trains():
    """fig2a's mixture is trained by two settings and varied by a figure."""
    mine = configs.SHIPPED["settings"]["fig2a"] | {"models": ["attention"], "layers": [2]}
    found = compared("mine", mine=mine)
    assert [one for one in found if one[1] == 1] == [
        ("fig2a", 1, "plain"),
        ("fig2a", 1, "joint"),
    ]


def test_a_setting_of_several_depths_is_compared_with_itself():
    mine = configs.SHIPPED["settings"]["fig2a"] | {"models": ["attention"], "layers": [1, 2]}
    assert {name for name, _, _ in compared("mine", mine=mine)} == {"mine"}


def test_one_layer_has_theorems_and_no_bounds(parameters):
    """Also in the setting itself."""
    both = [member(2, "joint"), member(1, "joint")]
    own = {both[0]: parameters[both[0]]}
    own[both[1]] = parameters[member(1, "joint", setting="other")]
    rows = bounds(CONTEXTS, both, "own", own, BAYES, COUNT)
    assert {(row["layers"], row["bound"]) for row in rows} == {(2, "1 layer"), (2, "Bayes")}


def test_one_layer_without_a_theorem_is_held_to_bounds(parameters, monkeypatch):
    """Such as a model of one's own, whose gradient is exact all the same."""
    one = member(1, "joint", setting="other")
    own = {one: parameters[one]}
    assert bounds(CONTEXTS, [one], "other", own, BAYES, COUNT) == []
    monkeypatch.setattr(Attention, "references", ())
    (row,) = bounds(CONTEXTS, [one], "other", own, BAYES, COUNT)
    assert (row["layers"], row["bound"]) == (1, "Bayes")


def test_bounds_of_the_shipped_config():
    deeper = ["figA2b", "figA2c", "figA2e", "figA2f"]
    softmax = ["softmax_clean", *(f"softmax_heads.{heads}" for heads in (1, 4, 8)), "softmax_noisy"]
    assert comparisons.bounded_settings(configs.read()) == [
        *deeper,
        *softmax,
        "transformer",
    ]
