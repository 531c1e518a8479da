"""What is in the folders of models, optimisers, kinds of figures and sources: a file is enough."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from .. import figures, models, sources
from ..train import optimisers as optimiser_modules


def _names(package: ModuleType) -> list[str]:
    return sorted(found.name for found in iter_modules(package.__path__))


def _members(package: ModuleType, attribute: str) -> dict[str, type]:
    """By module, what a package's modules have under this name; helpers have nothing."""
    found = {name: vars(import_module(f"{package.__name__}.{name}")) for name in _names(package)}
    return {name: members[attribute] for name, members in found.items() if attribute in members}


@cache
def model_modules() -> dict[str, type[models.Model]]:
    found = _members(models, "MODEL")
    owners: dict[tuple[str, int], str] = {}
    for module, model in found.items():
        owned = [(model.name, layers) for layers in (1, 2) if model.takes(layers)]
        others = [owners.setdefault(key, module) for key in owned]
        other = next((name for name in others if name != module), None)
        if other:
            raise ValueError(f"models/{other}.py and models/{module}.py are one model; rename one")
    return found


@cache
def kinds() -> dict[str, type[figures.Figure]]:
    return _members(figures, "KIND")


@cache
def source_blocks() -> dict[str, ModuleType]:
    """How each source reads its settings."""
    return {name: import_module(f"{sources.__name__}.{name}.block") for name in _names(sources)}


@cache
def optimisers() -> dict[str, ModuleType]:
    names = _names(optimiser_modules)
    return {name: optimiser_modules.load(name) for name in names}


@cache
def optimiser_keys() -> dict[str, Any]:
    """JSON schemas of the keys that recipes have for their optimisers."""
    return {key: schema for made in optimisers().values() for key, schema in made.KEYS.items()}


def source_of(block: Mapping[str, Any], default: str) -> str:
    """The source that a setting names; else the one whose own key it has."""
    own = (name for name, made in source_blocks().items() if getattr(made, "KEY", None) in block)
    return block.get("source", next(own, default))


def model_names() -> list[str]:
    return sorted({model.name for model in model_modules().values()})


@cache
def model_keys() -> dict[str, Any]:
    """JSON schemas of the keys that settings have for their models."""
    return {key: made for model in model_modules().values() for key, made in model.keys.items()}


def find_model(name: str, layers: int) -> str | None:
    """The module of a model of this name and depth."""
    return next(
        (
            module
            for module, model in model_modules().items()
            if model.name == name and model.takes(layers)
        ),
        None,
    )
