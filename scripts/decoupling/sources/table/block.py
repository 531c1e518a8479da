"""The block of a setting with a table: its keys, its folds, and its problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError
from . import FOLDS

ENGINES = ("moments",)
KEY = "table"  # a block with this key has this source
FIGURE = "real"  # the kind of figure that its settings have
RECIPE = "table"  # its recipe, in protocols that have it
MADE = ("bdf", "star", "vietnam", "vietnam_total")  # data/tables/<name>.csv, which a rule makes
MOST_FEATURES = 10  # whose sixth moments are in the spec
TASKS = 8  # assumed for memory; the number is known from the file only


def _column(description: str) -> dict[str, Any]:
    return {"description": description, "type": "string"}


PROPERTIES = {
    "table": _column("A CSV file with a row per observation and a line of column names"),
    "unit": _column("Column of the unit: a context's rows come from one unit"),
    "group": _column("Column of the group: the task"),
    "features": {
        "description": f"Columns that make x, {MOST_FEATURES} at most",
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_FEATURES,
        "uniqueItems": True,
        "items": {"type": "string"},
    },
    "target": _column("Column that makes y"),
    "intercept": {"description": "Whether x has a constant feature too", "type": "boolean"},
    "differences": {
        "description": "Whether tokens are differences of two rows of the unit, which removes a"
        " unit's intercept",
        "type": "boolean",
    },
    "fold_by": _column("Column of what stays in one fold; the unit where left out"),
    "folds": {"description": "Parts of which each is held out once", "type": "integer"},
}
REQUIRED = ("table", "unit", "group", "features", "target")


def shape(block: Mapping[str, Any]) -> tuple[int, int]:
    """(d, K); K is a guess."""
    return len(block["features"]) + block.get("intercept", False), TASKS


def folds(name: str, block: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Blocks of the settings that are trained, one per held-out fold, by name."""
    folds = block.get("folds", FOLDS)
    return {f"{name}.fold{i}": {**block, "folds": folds, "fold": i} for i in range(folds)}


def files(block: Mapping[str, Any]) -> list[str]:
    """Files that jobs read besides the spec."""
    return [block["table"]]


def problems(name: str, block: Mapping[str, Any], lengths: Sequence[int]) -> list[str]:
    """A line per problem; files that a rule makes are not checked before they exist."""
    from .rows import read_units
    from .splits import check_folds

    file = block["table"]
    if "{" in file or "}" in file:
        text = f"{file} has a brace in its name, which Snakemake takes for a wildcard's"
        return [f"settings.{name}.table: {text}; rename the file"]
    if file in [f"data/tables/{name}.csv" for name in MADE] and not Path(file).exists():
        return []  # a rule makes it
    try:
        check_folds(read_units(f"settings.{name}", block, max(lengths)), block)
    except InputError as error:
        return error.problems
    return []
