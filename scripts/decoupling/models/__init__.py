"""Models, a module each, with its class under the name MODEL.

A job loads only the modules of the models that it trains, so that a new model, or an edit to one,
leaves the results of others alone.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from .. import discover
from .base import Model


def load(module: str) -> type[Model]:
    return import_module(f"{__name__}.{module}").MODEL


@cache
def modules() -> dict[str, type[Model]]:
    """Every model, by its module."""
    found = discover.members(__name__, "MODEL")
    owners: dict[tuple[str, int], str] = {}
    for module, model in found.items():
        owned = [(model.name, layers) for layers in (1, 2) if model.supports_depth(layers)]
        others = [owners.setdefault(key, module) for key in owned]
        other = next((name for name in others if name != module), None)
        if other:
            raise ValueError(f"models/{other}.py and models/{module}.py are one model; rename one")
    return found


def find(name: str, layers: int) -> str | None:
    """The module of the model of this name and depth, if there is one."""
    found = (
        m for m, model in modules().items() if model.name == name and model.supports_depth(layers)
    )
    return next(found, None)


def names() -> list[str]:
    """Names of models, as in the config."""
    return sorted({model.name for model in modules().values()})


@cache
def keys() -> dict[str, Any]:
    """JSON schemas of the keys that models add to settings."""
    return {key: schema for model in modules().values() for key, schema in model.keys.items()}
