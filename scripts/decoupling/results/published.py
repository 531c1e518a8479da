"""The risks that the paper's authors published, of one-layer models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

COLUMNS = ("setting", "model", "arm", "n", "risk")  # of the files


def read_published(paths: Iterable[Path]) -> pd.DataFrame:
    """All the files' rows; none, but the columns, if there are no files."""
    tables = [_read(path) for path in paths]
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    return found.assign(layers=1)


def _read(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path)
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise ValueError(f"{path}: has no column {', '.join(missing)}")
    return table[list(COLUMNS)]
