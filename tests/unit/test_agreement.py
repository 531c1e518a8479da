"""Lists that have to agree: arms, recipes, models, kinds of figures, and what the docs name."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from decoupling import figures, models
from decoupling.figures.style import ARM_STYLE
from decoupling.models.arms import ARMS
from decoupling.theory.optimum import OPTIMUM_ARMS
from decoupling.theory.theorems import THEOREMS
from decoupling.train.recipe import Recipe

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
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


@pytest.mark.parametrize("module", models.modules())
def test_every_model_has_its_engine(module: str):
    assert hasattr(import_module(f"decoupling.engines.{models.modules()[module].view}"), "ENGINE")


@pytest.mark.parametrize("module", models.modules())
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_model_has_its_recipe(protocol: str, module: str):
    assert models.modules()[module].recipe in PROTOCOLS[protocol]


@pytest.mark.parametrize("name", [*ARMS, *RECIPE["properties"], *figures.kinds()])
def test_readme_names(name: str):
    assert f"`{name}`" in README


def test_the_docs_picture_is_the_contract_of_layers():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    (contract,) = tools["importlinter"]["contracts"]
    (picture,) = re.findall(
        r"^```text\n(api .*?)^```", (ROOT / "docs/architecture.md").read_text(), re.M | re.S
    )
    assert [re.split(" {2,}", line)[0] for line in picture.splitlines()] == contract["layers"]
