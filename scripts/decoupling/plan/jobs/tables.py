"""Settings with a table, and their folds."""

from __future__ import annotations

from ... import sources
from ..config import Config, Setting
from .specs import canonical_json

CLUSTERS = 300  # for memory; how many there are is in the file
MADE = sources.blocks()["table"].MADE  # data/tables/<name>.csv


def folds(config: Config) -> dict[str, Setting]:
    """The settings that are folds of a table."""
    return {name: made for name, made in config.settings.items() if "fold" in made.block}


def fold_block(setting: Setting) -> str:
    """All that a fold's spec is made from besides the table. Of n only the longest counts: units
    are the same at every n."""
    return canonical_json({"longest": max(setting.n), "block": dict(setting.block)})


def folded(config: Config) -> list[str]:
    """The settings that have folds."""
    return [name for name, made in config.settings.items() if made.parts]


def fold_names(config: Config, setting: str) -> list[str]:
    return list(config.settings[setting].parts)


def model_modules(setting: Setting) -> list[str]:
    return sorted({f"models.{curve.module}" for curve in setting.curves})


def predictors(setting: Setting) -> str:
    """What is trained, as the script that tests it takes it."""
    return canonical_json([curve.to_dict() for curve in setting.curves])


def redrawn_mb(setting: Setting) -> int:
    """What the bootstrap of a fold's theory asks for: two sixth moments of x for every cluster."""
    dim, _ = sources.blocks()[setting.source].shape(setting.block)
    moments = 2 * (dim * (dim + 1) // 2) ** 3
    return 500 + CLUSTERS * moments * 8 // 10**6
