"""Mistakes in a config that would otherwise surface in the middle of a run, or never."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from decoupling import config as cfg
from decoupling.checks import problems

SCHEMA = yaml.safe_load((Path(__file__).parents[2] / "config/schema.yaml").read_text())
BASE = {"d": 2, "weights": [0.5, 0.5], "means": [1, -1], "covs": [1, 2], "n": [1, 4]}
RECIPE = {"gradient": 8, "iterations": 10, "lr": 0.01}
PUBLISHED = {("one", "plain")}


def config(**changes) -> dict:
    """A sound config; `changes` are merged into its settings, figures or recipe."""
    protocol = {"seeds": 2, "seeds_per_job": 2, "one_layer": dict(RECIPE), "deep": dict(RECIPE)}
    protocol["one_layer"] |= changes.get("recipe", {})
    return {
        "protocol": "p",
        "protocols": {"p": protocol | changes.get("protocol", {})},
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


BAD = {
    "n with a point": (
        setting(n=[2.0, 5]),
        "settings.x.n[0]: 2.0 is not a whole number; write 2",
    ),
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
        {"recipe": {"gradient": 8.0}},
        "protocols.p.one_layer.gradient: 8.0 does not fit; this is: exact (one layer only)",
    ),
    "rate of NaN": (
        {"recipe": {"lr": float("nan")}},
        "protocols.p.one_layer.lr: nan is not finite; give a finite number",
    ),
    "infinite rate": ({"recipe": {"lr": float("inf")}}, "protocols.p.one_layer.lr: inf is not"),
    "noise of NaN": (
        figure(noise="one", n=[1], noise_var=[float("nan")]),
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
    "name like an option": ({"settings": {"-x": BASE}}, "settings: the name '-x' is not allowed"),
    "theorem in depth": (
        figure(setting="two", dashed="theorem"),
        "figures.x.dashed: theorem is of one layer; use none",
    ),
    "overview in depth": (
        figure(overview="two"),
        "figures.x.overview: settings.two.layers lacks 1",
    ),
    "overview of the reduced model": (
        figure(overview="reduced"),
        "figures.x.overview: settings.reduced.models lacks attention",
    ),
    "overview and panels": (
        figure(overview="one", panels=["one"]),
        "figures.x: has panels and overview; remove one",
    ),
    "title of a page": (
        figure(panels=["one"], title="t"),
        "figures.x.title: is for one panel; put it in the panel's own entry",
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
        {"figures": {"one": {"panels": ["two"]}}},
        "settings.one: figures.one draws something else; rename one",
    ),
    "Assumption 1 at one n": (
        figure(assumption1=["one"], n=[3]),
        "figures.x.n: a line needs two lengths; add one",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_line_says_what_and_where(name: str):
    changes, message = BAD[name]
    (problem,) = problems(config(**changes), SCHEMA, PUBLISHED)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        setting(means=[0.001, 1.0e-3], n=[1000000000]),
        figure(setting="both", dashed="theorem"),
        figure(setting="one", overlay="published"),
        figure(overview="one"),
    ],
)
def test_sound_configs_pass(changes: dict):
    assert problems(config(**changes), SCHEMA, PUBLISHED) == []


def test_depth_is_in_the_title_where_nothing_else_says_it():
    def titles(name: str, **block) -> list[str]:
        made = config(figures={name: block} if block else {})
        return [panel["title"] for panel in cfg.figure(made, name)["panels"]]

    assert titles("one") == ["one"]
    assert titles("two") == ["two, 2 layers"]
    assert titles("two", title="Two layers") == ["Two layers"]
    assert titles("both") == ["both, 1 layer", "both, 2 layers"]
    assert titles("both", title="Mine") == ["Mine, 1 layer", "Mine, 2 layers"]


def test_theorems_are_drawn_on_one_layer_alone():
    made = config(figures={"both": {"dashed": "theorem"}})
    assert [panel["dashed"] for panel in cfg.figure(made, "both")["panels"]] == ["theorem", "none"]


def test_reduced_model_has_no_curves_with_heads():
    (panel,) = cfg.figure(config(), "reduced")["panels"]
    assert panel["arms"] == ["plain", "finetune", "joint"]
