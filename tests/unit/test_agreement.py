"""Lists that have to agree: arms, recipes, models, kinds of figures, and what the docs name."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from decoupling.draw.style import ARM_STYLE
from decoupling.models.arms import ARMS
from decoupling.plan.registry import kinds, model_modules, source_blocks
from decoupling.theory.optimum import OPTIMUM_ARMS
from decoupling.theory.theorems import THEOREMS
from decoupling.train.recipe import Recipe

CONFIG = Path(__file__).parents[2] / "config"
RECIPE = yaml.safe_load((CONFIG / "schema.yaml").read_text())["$defs"]["recipe"]
RECIPE_FIELDS = {field.name for field in fields(Recipe)}
PROTOCOLS = yaml.safe_load((CONFIG / "config.yaml").read_text())["protocols"]
README = (CONFIG / "README.md").read_text()


def test_every_arm_has_a_style():
    assert set(ARM_STYLE) == set(ARMS)


def test_styles_differ():
    for values in zip(*ARM_STYLE.values(), strict=True):
        assert len(set(values)) == len(ARMS)


def test_theorems_and_optima_are_of_arms():
    assert {*THEOREMS, *OPTIMUM_ARMS} <= set(ARMS)


def test_recipes_have_the_schemas_keys():
    assert set(RECIPE["properties"]) - {"seeds", "arms"} == RECIPE_FIELDS


def test_what_differs_for_an_arm_is_of_the_recipe():
    own = RECIPE["properties"]["arms"]["additionalProperties"]["properties"]
    assert set(own) <= RECIPE_FIELDS
    assert all(own[key] == RECIPE["properties"][key] for key in own)


@pytest.mark.parametrize("source", source_blocks())
def test_every_engine_of_a_source_is_there(source: str):
    for engine in source_blocks()[source].ENGINES:
        assert hasattr(import_module(f"decoupling.engines.{engine}"), "ENGINE")


@pytest.mark.parametrize("module", model_modules())
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_model_has_its_recipe(protocol: str, module: str):
    assert model_modules()[module].recipe in PROTOCOLS[protocol]


@pytest.mark.parametrize("name", [*ARMS, *RECIPE["properties"], *kinds()])
def test_readme_names(name: str):
    assert f"`{name}`" in README
