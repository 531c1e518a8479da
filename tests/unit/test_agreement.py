"""Lists that have to agree: arms, recipes, models, kinds of figures, and what the docs name."""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from decoupling.draw.style import ARM_STYLE
from decoupling.models.arms import ARMS
from decoupling.plan.registry import kinds, model_modules, optimiser_keys, optimisers, source_blocks
from decoupling.theory.optimum import OPTIMUM_ARMS
from decoupling.theory.theorems import THEOREMS
from decoupling.train.recipe import KEYS, Recipe

CONFIG = Path(__file__).parents[2] / "config"
RECIPE = yaml.safe_load((CONFIG / "schema.yaml").read_text())["$defs"]["recipe"]
PROTOCOLS = yaml.safe_load((CONFIG / "config.yaml").read_text())["protocols"]
README = (CONFIG / "README.md").read_text()


def test_every_arm_has_a_style():
    assert set(ARM_STYLE) == set(ARMS)


def test_styles_differ():
    for values in zip(*ARM_STYLE.values(), strict=True):
        assert len(set(values)) == len(ARMS)


def test_theorems_and_optima_are_of_arms():
    assert {*THEOREMS, *OPTIMUM_ARMS} <= set(ARMS)


def test_every_field_of_a_recipe_is_a_key():
    """But for the options, which are keys of their own, and what is of the block's seeds."""
    assert {field.name for field in fields(Recipe)} - {"options"} == set(KEYS)
    assert set(KEYS).isdisjoint({*optimiser_keys(), *RECIPE["properties"]})


@pytest.mark.parametrize("name", optimisers())
def test_an_optimisers_keys_are_what_it_takes(name: str):
    optimiser = optimisers()[name]
    taken = inspect.signature(optimiser.update).parameters.values()
    assert {one.name for one in taken if one.kind is one.KEYWORD_ONLY} == set(optimiser.KEYS)
    assert optimiser.STATE


@pytest.mark.parametrize("source", source_blocks())
def test_every_engine_of_a_source_is_there(source: str):
    for engine in source_blocks()[source].ENGINES:
        assert hasattr(import_module(f"decoupling.engines.{engine}"), "ENGINE")


@pytest.mark.parametrize("module", model_modules())
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_model_has_its_recipe(protocol: str, module: str):
    assert model_modules()[module].recipe in PROTOCOLS[protocol]


NAMED = [*ARMS, *KEYS, *optimiser_keys(), *optimisers(), *RECIPE["properties"], *kinds()]


@pytest.mark.parametrize("name", NAMED)
def test_readme_names(name: str):
    assert f"`{name}`" in README
