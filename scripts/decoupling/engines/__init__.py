"""Engines: each trains and tests the models that see the data in one way.

An engine is a module of this folder, which models name. `ENGINE(contexts, device, threads)` of the
module gives an `engines.base.Engine` for a source's contexts at one n.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .memory import keep_freed_memory


def load(engine: str) -> Any:
    keep_freed_memory()
    return import_module(f"{__name__}.{engine}").ENGINE
