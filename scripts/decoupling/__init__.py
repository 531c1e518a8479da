"""Task-specific prompts for in-context learning: risks, training and theory.

The mathematics of arXiv 2503.02102 for one-layer linear attention (and its
deeper relatives) on mixtures of linear-regression tasks. No module depends on
Snakemake; each can be imported and tested alone. `Mixture`, `theorems` and `optimum` are
for notebooks (`api`).
"""

import importlib
from typing import Any

__all__ = ["Mixture", "optimum", "theorems"]


def __getattr__(name: str) -> Any:
    """Import `api` when one of its names is first used: jobs start without it."""
    if name in __all__:
        return getattr(importlib.import_module(".api", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
