"""Plug-ins, found in their folders: models, kinds of figures, sources, optimisers."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def names(package: str) -> list[str]:
    """The modules and folders of a package, sorted."""
    return sorted(found.name for found in iter_modules(import_module(package).__path__))


def members(package: str, attribute: str) -> dict[str, type]:
    """The attribute of this name, by module; modules without it are left out."""
    found = {name: vars(import_module(f"{package}.{name}")) for name in names(package)}
    return {name: module[attribute] for name, module in found.items() if attribute in module}
