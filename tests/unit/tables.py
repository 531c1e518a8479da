"""Tables of units with known random effects, as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

MEANS = {"a": np.array([1.0, -0.5]), "b": np.array([-0.5, 1.5])}
BLOCK = {"unit": "class", "group": "kind", "features": ["u", "v"], "target": "y", "folds": 3}
HEADER = ["class", "school", "kind", "u", "v", "y"]
Rows = list[list[Any]]


def make_rows(units: int = 12, rows: int = 8, seed: int = 0) -> Rows:
    """Classes in schools of two, of kinds in turn; β ~ N(μ_kind, 0.2 I), σ² = 0.25."""
    rng = np.random.default_rng(seed)
    found = []
    for unit in range(units):
        kind = "ab"[unit % 2]
        beta = MEANS[kind] + 0.2**0.5 * rng.standard_normal(2)
        x = rng.uniform(-1, 1, (rows, 2))
        y = x @ beta + 0.5 * rng.standard_normal(rows)
        for (u, v), label in zip(x, y, strict=True):
            found.append([f"c{unit}", f"s{unit // 2}", kind, u, v, label])
    return found


def write(path: Path, rows: Rows, header: Sequence[str] = HEADER) -> dict[str, Any]:
    """Write the file; the block of a setting that uses it."""
    with path.open("w", newline="") as target:
        csv.writer(target).writerows([header, *rows])
    return BLOCK | {"table": str(path)}
