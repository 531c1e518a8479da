"""Optimisers: a module each, which a recipe names.

A module has STATE, the names of the arrays that it keeps for the next step; KEYS, the JSON schemas
of its options, which are keys of a recipe; and

    update(theta, state, grad, rates, lr, step, **options)

which makes step number `step` (from 1) in place, on NumPy's arrays or torch's. `theta`, `grad` and
all of `state`, which is zero at first, are [seeds, parameters]; `rates`, [1, parameters], are the
parameters' learning rates as multiples of `lr`. The workflow imports all of them when it starts.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ... import discover


def load(optimiser: str) -> ModuleType:
    return import_module(f"{__name__}.{optimiser}")


@cache
def modules() -> dict[str, ModuleType]:
    """Every optimiser of the folder, by name."""
    return {name: load(name) for name in discover.names(__name__)}


@cache
def keys() -> dict[str, Any]:
    """JSON schemas of the keys that recipes have for their optimisers."""
    return {key: schema for made in modules().values() for key, schema in made.KEYS.items()}
