"""Lists that have to agree: arms, recipes, models, kinds of figures, and what the docs name."""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from decoupling import figures, sources
from decoupling.figures.explorer import SYMBOLS
from decoupling.models.arms import ARMS
from decoupling.theory.optimum import OPTIMUM_ARMS
from decoupling.theory.theorems import CLOSED_FORMS
from decoupling.train import optimisers
from decoupling.train.recipe import KEYS, Recipe
from matplotlib.lines import Line2D
from plotly.graph_objects import Scatter

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
RECIPE = yaml.safe_load((CONFIG / "schema.yaml").read_text())["$defs"]["recipe"]
README = (CONFIG / "README.md").read_text()


def test_closed_forms_are_of_arms():
    assert {arm for forms in CLOSED_FORMS.values() for arm in forms} <= set(ARMS)


@pytest.mark.parametrize("arm", OPTIMUM_ARMS)
def test_an_optimum_is_over_what_its_arm_trains(arm: str):
    trains = ARMS[arm].trains
    prompts = ("one" if trains.shared_prompt else "own") if trains.prompts else "none"
    assert OPTIMUM_ARMS[arm] == (trains.weights, prompts, trains.heads)


def test_the_explorer_has_all_filled_markers_and_tells_them_apart():
    assert set(SYMBOLS) == set(Line2D.filled_markers) - {"."}  # which is a small circle
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)
    for symbol in SYMBOLS.values():
        assert Scatter(marker={"symbol": symbol}).marker.symbol == symbol  # else an error


def test_every_field_of_a_recipe_is_a_key():
    """But for the options, which are keys of their own, and what is of the block's seeds."""
    assert {field.name for field in fields(Recipe)} - {"options"} == set(KEYS)
    assert set(KEYS).isdisjoint({*optimisers.keys(), *RECIPE["properties"]})


@pytest.mark.parametrize("name", optimisers.modules())
def test_an_optimisers_keys_are_what_it_takes(name: str):
    optimiser = optimisers.modules()[name]
    taken = inspect.signature(optimiser.update).parameters.values()
    assert {one.name for one in taken if one.kind is one.KEYWORD_ONLY} == set(optimiser.KEYS)
    assert optimiser.STATE


@pytest.mark.parametrize("source", sources.blocks())
def test_every_engine_of_a_source_is_there(source: str):
    for engine in sources.blocks()[source].ENGINES:
        assert hasattr(import_module(f"decoupling.engines.{engine}"), "ENGINE")


NAMED = [
    *(*ARMS, *KEYS, *optimisers.keys(), *optimisers.modules(), *RECIPE["properties"]),
    *figures.kinds(),
]


@pytest.mark.parametrize("name", NAMED)
def test_readme_names(name: str):
    assert f"`{name}`" in README
