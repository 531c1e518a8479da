"""Configs as the workflow reads them, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml
from decoupling.config import Config
from decoupling.errors import InputError
from decoupling.plan.read import load, of_clone

ROOT = Path(__file__).parents[1]
SHIPPED = yaml.safe_load((ROOT / "config/config.yaml").read_text())
CLONE = of_clone(ROOT)


def read(raw: dict[str, Any] = SHIPPED) -> Config:
    return load(raw, **CLONE)


def problems(raw: dict[str, Any], published: Collection[tuple[str, str]] = ()) -> list[str]:
    try:
        load(raw, CLONE["schema"], published)
    except InputError as error:
        return error.problems
    return []
