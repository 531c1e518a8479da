"""Mistakes in a config that would otherwise surface in the middle of a run, or never."""

from __future__ import annotations

from dataclasses import replace

import pytest
from configs import SHIPPED, problems, read
from decoupling.errors import InputError
from decoupling.models.arms import ARMS, Entry
from decoupling.models.base import Arm
from decoupling.models.reduced import Reduced
from decoupling.plan.jobs import setting_runs

BASE = {"d": 2, "weights": [0.5, 0.5], "means": [1, -1], "covs": [1, 2], "n": [1, 4]}
RECIPE = {"batch_size": 8, "iterations": 10, "lr": 0.01}
PUBLISHED = {("one", "plain")}


def config(**changes) -> dict:
    """A sound config; `changes` are merged into its settings, figures or recipe."""
    protocol = {"seeds": 2, "seeds_per_job": 2, "one_layer": dict(RECIPE), "deep": dict(RECIPE)}
    protocol["one_layer"] |= changes.get("recipe", {})
    return {
        "protocol": "p",
        "protocols": {"p": protocol | changes.get("protocol", {}), **changes.get("protocols", {})},
        "settings": {
            "one": BASE,
            "two": BASE | {"layers": [2]},
            "both": BASE | {"layers": [1, 2], "arms": ["plain", "heads"]},
            "reduced": BASE | {"models": ["reduced"]},
            **changes.get("settings", {}),
        },
        "figures": changes.get("figures", {}),
    }


def figure(**block) -> dict:
    return {"figures": {"x": block}}


def setting(**changes) -> dict:
    return {"settings": {"x": BASE | changes}}


def softmax(**changes) -> dict:
    """A sound setting of softmax attention, and its recipe; `figure` is drawn of it."""
    drawn, recipe = changes.pop("figure", None), changes.pop("recipe", {})
    own = {"models": ["softmax"], "arms": ["plain", "joint"]} | changes
    protocol = {"softmax": RECIPE | recipe, "transformer": dict(RECIPE)}
    return {**setting(**own), "protocol": protocol, "figures": {"y": drawn} if drawn else {}}


TABLE = {
    "table": "data/tables/bdf.csv",
    "unit": "school",
    "group": "subject",
    "features": ["iq_verbal"],
    "target": "post",
    "n": [1],
}


def deep(seeds: int = 2, seeds_per_job: int = 2, **changes) -> dict:
    """Changes to the recipe of deeper models."""
    counts = {"seeds": seeds, "seeds_per_job": seeds_per_job}
    return {"protocol": {**counts, "deep": RECIPE | changes}}


def table(**changes) -> dict:
    return {"settings": {"x": TABLE | changes}}


def of_table(**block) -> dict:
    """A figure, and a setting with a table that a rule makes."""
    return {"settings": {"real": TABLE}, **figure(**block)}


BAD = {
    "softmax on the exact gradient": (
        softmax(recipe={"batch_size": "exact"}),
        "protocols.p.softmax.batch_size: exact is for linear attention of one layer; give a batch",
    ),
    "no attention heads": (
        softmax(attention_heads=0),
        "settings.x.attention_heads: 0 is less than the minimum of 1; this is: Heads of softmax",
    ),
    "attention heads of a linear model": (
        setting(attention_heads=2),
        "settings.x.attention_heads: is a key of softmax or transformer; add it to models",
    ),
    "width of softmax": (
        softmax(width=8),
        "settings.x.width: is a key of transformer; add it to models, or remove this",
    ),
    "width that heads do not divide": (
        softmax(models=["transformer"], width=9),
        "settings.x.width: 9 is no multiple of attention_heads, 2; use one",
    ),
    "deeper softmax": (
        softmax(layers=[2]),
        "settings.x.layers: there is no softmax with so many; use layers: [1]",
    ),
    "softmax without its recipe": (
        setting(models=["softmax"]),
        "protocols.p: softmax is missing; add it, as settings.x needs it",
    ),
    "theorems as softmax's own": (
        softmax(figure={"setting": "x", "dashed": "theorem"}),
        "figures.y.dashed: theorem belongs to linear attention, not to softmax; use none, or",
    ),
    "a prompt of zeros in linear attention": (
        setting(arms=["zero_prompt"]),
        "settings.x.arms: the attention model treats a prompt of zeros as none; add another arm",
    ),
    "linear attention against itself": (
        figure(kind="against_linear", settings=["one"]),
        "figures.x.settings: against_linear draws settings whose first model has no theorem, which "
        "settings.one is not; name another, or use kind panel",
    ),
    "an arm that is not trained": (
        softmax(figure={"kind": "against_linear", "settings": ["x"], "arms": ["shared"]}),
        "figures.y.arms: shared is not trained in settings.x; add it to settings.x.arms",
    ),
    "heads of a linear model varied": (
        figure(kind="attention_heads", setting="one", attention_heads=[1], n=[1]),
        "figures.x.setting: attention_heads draws settings whose first model has "
        "attention_heads, which settings.one is not; name another, or use kind panel",
    ),
    "heads varied at an n that is not there": (
        softmax(
            figure={"kind": "attention_heads", "setting": "x", "attention_heads": [1], "n": [3]}
        ),
        "figures.y.n: 3 is not in settings.x.n; add it there, or remove it",
    ),
    "heads that do not divide the width": (
        softmax(
            models=["transformer"],
            figure={"kind": "attention_heads", "setting": "x", "attention_heads": [3], "n": [1]},
        ),
        "figures.y: 32 is no multiple of attention_heads, 3; use one",
    ),
    "an arm that the model lacks": (
        softmax(
            models=["transformer", "softmax"],
            arms=["plain", "finetune_heads"],
            figure={"kind": "against_linear", "settings": ["x"], "arms": ["finetune_heads"]},
        ),
        "figures.y.arms: the transformer model has heads that add to a common one, and none to fin",
    ),
    "an arm that no model has": (
        setting(arms=["plain", "zero_prompt"]),
        "settings.x.arms: no model of the setting has zero_prompt; remove it",
    ),
    "softmax on a table": (
        {"settings": {"x": TABLE | {"models": ["softmax"]}}, "protocol": {"softmax": dict(RECIPE)}},
        "settings.x.models: a table cannot serve softmax; use attention or reduced",
    ),
    "stops of an arm with few iterations": (
        softmax(
            recipe={"halve_at": [0.5], "halving_group": 2, "arms": {"joint": {"iterations": 1}}}
        ),
        "protocols.p.softmax.arms.joint.halve_at: stops would be at iterations [0] of 1; use",
    ),
    "two stops of an arm at once": (
        softmax(recipe={"halving_group": 2, "arms": {"plain": {"halve_at": [0.5, 0.51]}}}),
        "protocols.p.softmax.arms.plain.halve_at: stops would be at iterations [5, 5] of 10; use",
    ),
    "an arm of one layer that is halved": (
        {"recipe": {"halving_group": 2, "arms": {"plain": {"halve_at": [0.5]}}}},
        "protocols.p.one_layer.arms.plain.halve_at: models of one layer share their work and are",
    ),
    "an arm that is halved without a group": (
        softmax(recipe={"arms": {"plain": {"halve_at": [0.5]}}}),
        "protocols.p.softmax.halving_group: is missing; halve_at needs it",
    ),
    "fine-tuning that is halved": (
        softmax(recipe={"halving_group": 2, "arms": {"finetune": {"halve_at": [0.5]}}}),
        "protocols.p.softmax.arms.finetune.halve_at: fine-tuned seeds are not halved; remove it",
    ),
    "one depth": (
        figure(kind="depth", setting="one"),
        "figures.x.setting: depth draws settings of several layers, which "
        "settings.one is not; name another, or use kind panel",
    ),
    "a share of linear attention": (
        figure(kind="prompt_share", settings=["one"]),
        "figures.x.settings: prompt_share draws settings of softmax attention with prompts, which "
        "settings.one is not; name another, or use kind panel",
    ),
    "table for a deeper model": (
        table(layers=[1, 2]),
        "settings.x.layers: a table serves models of one layer; use layers: [1]",
    ),
    "table without a unit": (
        {"settings": {"x": {k: v for k, v in TABLE.items() if k != "unit"}}},
        "settings.x: unit is missing; add it",
    ),
    "table and mixture": (
        table(d=2),
        "settings.x: unknown key 'd'; known are table, unit, group, features",
    ),
    "folds as text": (table(folds="5"), "settings.x.folds: '5' was read as text; write 5"),
    "features without brackets": (
        table(features="iq_verbal"),
        "settings.x.features: 'iq_verbal' is not a list; write [iq_verbal]",
    ),
    "no table": (
        table(table="nowhere.csv"),
        "settings.x.table: there is no file nowhere.csv; give the path of a CSV file",
    ),
    "panel of a table": (
        of_table(setting="real"),
        "figures.x.setting: panel draws settings of a mixture, which settings.real is "
        "not; name another, or use kind real",
    ),
    "rates of a table": (
        of_table(kind="rates", setting="real", n=[1, 2]),
        "figures.x.setting: rates draws settings of a mixture, which settings.real is "
        "not; name another, or use kind real",
    ),
    "page of a table": (
        of_table(kind="page", panels=["real"]),
        "figures.x.panels[0]: there is no panel 'real'; name a setting or a one-panel figure",
    ),
    "real figure of a mixture": (
        figure(kind="real", settings=["one"]),
        "figures.x.settings: real draws settings of a table, which "
        "settings.one is not; name another, or use kind panel",
    ),
    "n with a point": (setting(n=[2.0, 5]), "settings.x.n[0]: 2.0 is not a whole number; write 2"),
    "n as text": (setting(n=["2"]), "settings.x.n[0]: '2' was read as text; write 2 "),
    "n twice": (setting(n=[1, 1]), "settings.x.n: [1, 1] repeats itself; give every entry once"),
    "n without brackets": (setting(n=5), "settings.x.n: 5 is not a list; write [5]"),
    "arms without brackets": (
        setting(arms="plain"),
        "settings.x.arms: 'plain' is not a list; write [plain]",
    ),
    "weights without brackets": (setting(weights=1), "settings.x.weights: 1 is not a list; write"),
    "truth for a weight": (
        setting(weights=[True], means=[1], covs=[1]),
        "settings.x.weights: has true where a number belongs; give a number",
    ),
    "truth for a mean": (setting(means=[True, 1]), "settings.x.means[0]: has true where a number"),
    "truth for noise": (setting(noise_var=True), "settings.x.noise_var: True is not a number;"),
    "title of digits": (
        figure(setting="one", title=5),
        "figures.x.title: 5 is not text; write '5'",
    ),
    "name of digits": ({"settings": {7: BASE}}, "settings: 7 is not text; write '7'"),
    "empty setting": ({"settings": {"x": None}}, "settings.x: is empty; give a block of keys"),
    "n too large": (setting(n=[10**20]), f"settings.x.n[0]: {10**20} is greater than"),
    "depth with a point": (
        setting(layers=[2.0]),
        "settings.x.layers[0]: 2.0 is not a whole number; write 2",
    ),
    "seeds with a point": (
        {"protocol": {"seeds": 2.0}},
        "protocols.p.seeds: 2.0 is not a whole number; write 2",
    ),
    "batch with a point": (
        {"recipe": {"batch_size": 8.0}},
        "protocols.p.one_layer.batch_size: 8.0 does not fit; this is: exact (linear attention of",
    ),
    "rate of NaN": (
        {"recipe": {"lr": float("nan")}},
        "protocols.p.one_layer.lr: nan is not finite; give a finite number",
    ),
    "optimiser of no file": (
        {"recipe": {"optimiser": "adamm"}},
        "protocols.p.one_layer.optimiser: 'adamm' is not one of ['adam', 'sgd']; this is",
    ),
    "option of another optimiser": (
        {"recipe": {"optimiser": "sgd", "beta2_decay": 0.6}},
        "protocols.p.one_layer.beta2_decay: is an option of adam; set optimiser, or remove it",
    ),
    "option without its optimiser": (
        {"recipe": {"momentum": 0.6}},
        "protocols.p.one_layer.momentum: is an option of sgd; set optimiser, or remove it",
    ),
    "option out of range": (
        {"recipe": {"optimiser": "sgd", "momentum": 1}},
        "protocols.p.one_layer.momentum: 1 is greater than or equal to the maximum of 1; this is",
    ),
    "key that cannot differ for an arm": (
        {"recipe": {"arms": {"plain": {"optimiser": "sgd"}}}},
        "protocols.p.one_layer.arms.plain: unknown key 'optimiser'; known are iterations, lr",
    ),
    "infinite rate": ({"recipe": {"lr": float("inf")}}, "protocols.p.one_layer.lr: inf is not"),
    "noise of NaN": (
        figure(kind="noise", setting="one", n=[1], noise_var=[float("nan")]),
        "figures.x.noise_var[0]: nan is not finite",
    ),
    "mean as text": (
        setting(means=["1e-3", 1]),
        "settings.x.means[0]: '1e-3' was read as text; write 0.001",
    ),
    "entry of a mean as text": (
        setting(means=[["1e-3", 1], 1]),
        "settings.x.means[0]: '1e-3' was read as text",
    ),
    "covariance as text": (setting(covs=["1e-3", 1]), "settings.x.covs[0]: '1e-3' was read as"),
    "name like an option": (
        {"settings": {"-x": BASE}},
        "settings: the name '-x' is not allowed; use letters, digits, _ and -, and do not begin"
        " with -",
    ),
    "theorem in depth": (
        figure(setting="two", dashed="theorem"),
        "figures.x.dashed: theorem is not drawn beside more layers; use none",
    ),
    "overview in depth": (
        figure(kind="overview", setting="two"),
        "figures.x.setting: settings.two.layers lacks 1",
    ),
    "overview of the reduced model": (
        figure(kind="overview", setting="reduced"),
        "figures.x.setting: settings.reduced.models lacks attention",
    ),
    "overview and panels": (
        figure(kind="overview", setting="one", panels=["one"]),
        "figures.x.panels: is for kind page; put it in the entry of one, or remove it",
    ),
    "title of a page": (
        figure(kind="page", panels=["one"], title="t"),
        "figures.x.title: is for kind panel; put it in the entry of one, or remove it",
    ),
    "dashed arm that is not there": (
        figure(setting="one", arms=["plain"], dashed_arms=["joint"]),
        "figures.x.dashed_arms: joint is not among the arms of the panel; remove it",
    ),
    "heads of the reduced model": (
        figure(setting="reduced", arms=["plain", "joint_heads"]),
        "figures.x.arms: the reduced model has no task heads; remove joint_heads",
    ),
    "nothing published": (
        figure(setting="one", arms=["joint"], overlay="published"),
        "figures.x.overlay: nobody published risks of these arms in settings.one; remove it",
    ),
    "a page with a setting's name": (
        {"figures": {"one": {"kind": "page", "panels": ["two"]}}},
        "settings.one: figures.one draws something else; rename one",
    ),
    "Assumption 1 at one n": (
        figure(kind="assumption1", settings=["one"], n=[3]),
        "figures.x.n: a line needs two lengths; add one",
    ),
    "panels without their kind": (
        figure(panels=["one"]),
        "figures.x.panels: is for kind page; put it in the entry of one, or remove it",
    ),
    "a kind as a key": (
        figure(overview="one"),
        "figures.x.overview: is a kind of figure; write kind: overview",
    ),
    "centred curve of an arm that has none": (
        figure(setting="one", dashed="centred"),
        "figures.x.dashed: centred has no curve of plain, finetune, joint_heads; use dashed_arms:"
        " [joint]",
    ),
    "title that is no formula": (
        figure(setting="one", title="cost in $, not in $\\foo$"),
        "figures.x.title: 'cost in $, not in $\\\\foo$' is no formula; write \\$ for a dollar sign",
    ),
    "no arm of the model that is drawn": (
        {"settings": {"x": BASE | {"models": ["reduced", "attention"], "arms": ["heads"]}}},
        "figures.x.setting: the reduced model has none of the arms of settings.x; add one",
    ),
    "dimension too large": (setting(d=400), "settings.x.d: 400 is greater than the maximum of 200"),
    "rate beyond all numbers": ({"recipe": {"lr": 10**400}}, "protocols.p.one_layer.lr: 1000"),
    "mean beyond all numbers": (
        setting(means=[10**400, 1]),
        "settings.x.means[0]: is not all numb",
    ),
    "line break in a name": (
        {"settings": {"x\n": BASE}},
        "settings: the name 'x\\n' is not allowed",
    ),
    "kind in brackets": (
        figure(kind=["rates"]),
        "figures.x.kind: ['rates'] is not text; give text",
    ),
    "source in brackets": (setting(source=["gaussian"]), "settings.x.source: ['gaussian'] is not"),
    "unknown kind": (
        figure(kind="pie"),
        "figures.x.kind: there is no kind 'pie'; use one of against_linear, assumption1,"
        " attention_heads, depth, identity, mixtures, noise, overview, page, panel,"
        " prompt_share, rates",
    ),
    "unknown key of a figure": (
        figure(setting="one", colour="red"),
        "figures.x: unknown key 'colour'; known are kind, section, caption, setting, title, arms,",
    ),
    "unknown source": (
        setting(source="files"),
        "settings.x.source: there is no source 'files'; use one of gaussian",
    ),
    "unknown key of a setting": (
        setting(sigma=1),
        "settings.x: unknown key 'sigma'; known are d, weights, means, covs, cov_base, sigma_x,",
    ),
    "unknown arm": (setting(arms=["all"]), "settings.x.arms[0]: 'all' is not one of ['plain', "),
    "unknown model": (
        setting(models=["mlp"]),
        "settings.x.models[0]: 'mlp' is not one of ['attention', 'reduced', 'softmax',"
        " 'transformer']",
    ),
    "exact gradient in depth": (
        deep(batch_size="exact"),
        "protocols.p.deep.batch_size: exact is for linear attention of one layer; give a batch",
    ),
    "growing batches with the exact gradient": (
        {"recipe": {"batch_size": "exact", "batch_growth": 2}},
        "protocols.p.one_layer.batch_growth: there are no batches with batch_size: exact; re",
    ),
    "a key of another name": (
        {"recipe": {"race": [0.5], "race_group": 2}},
        "protocols.p.one_layer: race is called halve_at now, race_group is called halving_group",
    ),
    "a key of an arm that has another name": (
        {"recipe": {"arms": {"plain": {"forgetting": 0.6}}}},
        "protocols.p.one_layer.arms.plain: unknown key 'forgetting'",
    ),
    "halving of one layer": (
        {"recipe": {"halve_at": [0.5], "halving_group": 2}},
        "protocols.p.one_layer.halve_at: models of one layer share their work and are not halved",
    ),
    "importance sampling of softmax attention": (
        softmax(recipe={"importance_sampling": True}),
        "protocols.p.softmax.importance_sampling: only linear attention of several layers",
    ),
    "importance sampling of one layer": (
        {"recipe": {"importance_sampling": True}},
        "protocols.p.one_layer.importance_sampling: only linear attention of several layers",
    ),
    "halving without a group": (
        deep(halve_at=[0.5]),
        "protocols.p.deep.halving_group: is missing; halve_at needs it",
    ),
    "halving group that does not divide the seeds": (
        deep(seeds=6, seeds_per_job=6, halve_at=[0.5], halving_group=4),
        "protocols.p.deep.halving_group: seeds is 6, no multiple of 4; use one that divides it",
    ),
    "halving group that does not divide a job": (
        deep(seeds=8, seeds_per_job=6, halve_at=[0.5], halving_group=4),
        "protocols.p.deep.halving_group: seeds_per_job is 6, no multiple of 4; use one that",
    ),
    "halving group that does not divide a recipe's job": (
        {
            "protocol": {
                "seeds": 8,
                "seeds_per_job": 8,
                "deep": RECIPE | {"seeds_per_job": 2, "halve_at": [0.5], "halving_group": 4},
            }
        },
        "protocols.p.deep.halving_group: seeds_per_job is 2, no multiple of 4; use one that",
    ),
    "batches that cannot grow": (
        deep(batch_growth=2),
        "protocols.p.deep.batch_size: batches grow by multiples of 64; use a multiple of it, or no",
    ),
    "two stops at once": (
        deep(halve_at=[0.5, 0.51], halving_group=2),
        "protocols.p.deep.halve_at: stops would be at iterations [5, 5] of 10; use other shares",
    ),
    "halving at the end": (
        deep(halve_at=[0.99], halving_group=2),
        "protocols.p.deep.halve_at: stops would be at iterations [10] of 10; use other shares",
    ),
    "halving at the start": (deep(halve_at=[0], halving_group=2), "protocols.p.deep.halve_at[0]: "),
    "name of the scoreboard": (
        {"settings": {"scoreboard": BASE}},
        "settings.scoreboard: the name is taken; use another",
    ),
    "name of a folder of data": (
        {"protocols": {"archived": config()["protocols"]["p"]}},
        "protocols.archived: the name is taken; use another",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_line_says_what_and_where(name: str):
    changes, message = BAD[name]
    (problem,) = problems(config(**changes), PUBLISHED)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        setting(means=[0.001, 1.0e-3], n=[1000000000]),
        figure(setting="both", dashed="theorem"),
        figure(setting="one", overlay="published"),
        figure(kind="overview", setting="one"),
        figure(kind="page", panels=["one", "both"]),
        softmax(attention_heads=4),
        softmax(figure={"kind": "against_linear", "settings": ["x"]}),
        softmax(
            figure={"kind": "attention_heads", "setting": "x", "attention_heads": [1], "n": [4]}
        ),
        softmax(models=["transformer"], layers=[1, 2], figure={"kind": "depth", "setting": "x"}),
    ],
)
def test_sound_configs_pass(changes: dict):
    assert problems(config(**changes), PUBLISHED) == []


def test_a_models_engine_is_its_own_files_mistake(monkeypatch):
    """And not the config's, whichever settings have the model."""
    monkeypatch.setattr(Reduced, "engine", "momnets")
    (found,) = problems(config(), PUBLISHED)
    wanted = "models/reduced.py: no source serves the engine 'momnets'; use one of gram, moments,"
    assert found.startswith(wanted)


LOOKS = {
    "no colour": ({"colour": "gold"}, "heads: 'gold' is no colour; write #RRGGBB, in capitals"),
    "small letters": (
        {"colour": "#0072b2"},
        "heads: '#0072b2' is no colour; write #RRGGBB, in capitals",
    ),
    "another's colour": (
        {"colour": "#0072B2"},
        "plain and heads have the same colour, '#0072B2'; change one",
    ),
    "another's label": (
        {"label": "plain"},
        "plain and heads have the same label, 'plain'; change one",
    ),
    "another's marker": ({"marker": "o"}, "plain and heads have the same marker, 'o'; change one"),
    "a marker of lines": (
        {"marker": "+"},
        "heads: '+' is no filled marker; use one of H 8 * d v < >",
    ),
}


@pytest.mark.parametrize("name", LOOKS)
def test_how_an_arm_cannot_look(name: str, monkeypatch):
    changes, message = LOOKS[name]
    monkeypatch.setitem(ARMS, "heads", replace(ARMS["heads"], **changes))
    assert problems(config(), PUBLISHED) == [f"models/arms.py: {message}"]


def test_an_arm_without_a_look_cannot_be_written():
    with pytest.raises(TypeError, match="'label', 'colour', and 'marker'"):
        Entry(ARMS["plain"].trains)


def test_any_free_marker_is_enough_for_a_new_arm(monkeypatch):
    new = Entry(Arm(weights=True, prompts=False, heads=False), "new", "#123456", "*")
    monkeypatch.setitem(ARMS, "new", new)
    assert problems(config(settings={"x": BASE | {"arms": ["new"]}}), PUBLISHED) == []


def test_a_first_model_without_arms_is_named_by_every_figure_of_it():
    made = {"kind": "against_linear", "settings": ["x"]}
    changes = {"models": ["transformer", "softmax"], "arms": ["finetune_heads"], "figure": made}
    found = problems(config(**softmax(**changes)), PUBLISHED)
    text = "the transformer model has none of the arms of settings.x; add one"
    assert found == [f"figures.x.setting: {text}", f"figures.y.settings: {text}"]


def without_deep(**settings) -> dict:
    made = config()
    del made["protocols"]["p"]["deep"]
    return made | {"settings": {"one": BASE, **settings}}


def test_a_recipe_that_nothing_needs_can_be_left_out():
    assert problems(without_deep()) == []


def test_a_recipe_that_a_setting_needs_is_missed():
    (problem,) = problems(without_deep(two=BASE | {"layers": [2]}))
    assert problem == "protocols.p: deep is missing; add it, as settings.two needs it"


def test_a_recipe_that_only_a_varied_setting_needs_is_missed():
    made = config(figures={"x": {"kind": "noise", "setting": "two", "noise_var": [0], "n": [1]}})
    del made["protocols"]["p"]["one_layer"]
    made["settings"] = {"two": BASE | {"layers": [2]}}
    (problem,) = problems(made)
    assert problem == "protocols.p: one_layer is missing; add it, as settings.x.0 needs it"


def with_new_recipe(monkeypatch, **blocks: dict) -> dict:
    """A model whose recipe no protocol has but those given; `p` is active."""
    monkeypatch.setattr(Reduced, "recipe", "own")
    made = config()
    made["protocols"] = {name: made["protocols"]["p"] | block for name, block in blocks.items()}
    return made


def test_a_new_recipe_is_needed_by_the_active_protocol_alone(monkeypatch):
    own = {"own": dict(RECIPE)}
    assert problems(with_new_recipe(monkeypatch, p=own, other={})) == []
    (problem,) = problems(with_new_recipe(monkeypatch, p={}, other=own))
    assert problem == "protocols.p: own is missing; add it, as settings.reduced needs it"


def test_what_is_asked_of_another_protocol_needs_its_recipe(monkeypatch):
    made = read(with_new_recipe(monkeypatch, p={"own": dict(RECIPE)}, other={}))
    assert setting_runs(made.protocols["other"], made.settings["one"])
    with pytest.raises(InputError) as raised:
        setting_runs(made.protocols["other"], made.settings["reduced"])
    text = "own is missing; add it, as settings.reduced needs it"
    assert raised.value.problems == [f"protocols.other: {text}"]


@pytest.mark.parametrize("protocol", SHIPPED["protocols"])
def test_every_protocol_of_the_shipped_config_can_be_active(protocol: str):
    assert read(SHIPPED | {"protocol": protocol}).protocol.name == protocol


def panels(raw: dict, name: str) -> list[dict]:
    made = read(raw)
    return made.figures[name].plot_spec(made)["panels"]


def test_depth_is_in_the_title_where_nothing_else_says_it():
    def titles(name: str, **block) -> list[str]:
        made = config(figures={name: block} if block else {})
        return [panel["title"] for panel in panels(made, name)]

    assert titles("one") == ["one"]
    assert titles("two") == ["two, 2 layers"]
    assert titles("two", title="Two layers") == ["Two layers"]
    assert titles("both") == ["both, 1 layer", "both, 2 layers"]
    assert titles("both", title="Mine") == ["Mine, 1 layer", "Mine, 2 layers"]


def test_theorems_are_drawn_on_one_layer_alone():
    made = config(figures={"both": {"dashed": "theorem"}})
    assert [panel["dashed"] for panel in panels(made, "both")] == ["theorem", "none"]


def test_reduced_model_has_no_curves_with_heads():
    (panel,) = panels(config(), "reduced")
    assert panel["arms"] == ["plain", "finetune", "joint"]


LARGE = {"d": 200, "weights": [0.05] * 20, "means": [0] * 20, "covs": [1] * 20, "n": [400]}


def test_what_no_job_has_the_memory_for_is_said_at_the_start():
    """One line with the setting, the key and the fix; of the active protocol alone."""
    long = {"batch_size": 300_000}
    (line,) = problems(config(settings={"large": LARGE}, recipe=long))
    assert line.startswith("settings.large.d: training by p needs 1")
    assert line.endswith(
        "GB a job, more than 100; use a smaller d or batch_size, or batch_size: exact"
    )
    for size in ("exact", 8192):
        assert problems(config(settings={"large": LARGE}, recipe={"batch_size": size})) == []
    long = LARGE | {"models": ["softmax"], "n": [10_000]}
    own = {"settings": {"large": long}, "protocol": {"softmax": dict(RECIPE)}}
    (line,) = problems(config(**own))
    assert line.startswith("settings.large.n: ")
    assert line.endswith("use shorter n, or a smaller d")


def test_deep_models_are_as_large_as_the_schema_allows():
    assert problems(config(settings={"large": LARGE | {"layers": [2, 3]}})) == []
