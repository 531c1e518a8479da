"""Parquet tables: their columns, and how they are written and read.

pandas comes with the first table that is read or written, so that importing this is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .files import atomic_path

if TYPE_CHECKING:
    import pandas as pd

POINT = [  # of a trained curve
    ("setting", pa.string()),
    ("n", pa.int64()),
    ("model", pa.string()),
    ("layers", pa.int64()),
    ("arm", pa.string()),
]
POINT_KEY = [name for name, _ in POINT]

RUNS = pa.schema(
    [
        *POINT,
        ("seed", pa.int64()),
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),
        ("iterations", pa.int64()),
        ("status", pa.string()),  # ok | diverged
        ("selection_risk", pa.float64()),  # what the best seed is chosen by
    ]
)
RISKS = pa.schema(
    [
        *POINT,
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),
        ("normalized", pa.float64()),
        ("best_seed", pa.int64()),
        ("median", pa.float64()),
        ("seeds_ok", pa.int64()),
        ("seeds_total", pa.int64()),
        ("normalized_se", pa.float64()),
    ]
)
THEORY = pa.schema(
    [
        ("setting", pa.string()),
        ("n", pa.int64()),
        ("curve", pa.string()),  # which reference: theorem | optimum
        ("arm", pa.string()),
        ("risk", pa.float64()),
        ("normalized", pa.float64()),
    ]
)
BAYES = pa.schema(
    [
        ("setting", pa.string()),
        ("n", pa.int64()),
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),  # of the simulation
        ("normalized", pa.float64()),
        ("normalized_se", pa.float64()),
    ]
)
IDENTITY = pa.schema(
    [
        ("setting", pa.string()),
        ("n", pa.int64()),
        ("arm", pa.string()),  # or bayes
        ("told", pa.string()),  # right | soft | map | wrong | nothing
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),
        ("normalized", pa.float64()),
        ("normalized_se", pa.float64()),
        ("wrong", pa.float64()),  # P(the likeliest task is not the right one)
        ("wrong_se", pa.float64()),
    ]
)
SAMPLED = pa.schema(
    [
        ("mixture", pa.int64()),  # its number
        ("d", pa.int64()),
        ("K", pa.int64()),
        ("n", pa.int64()),
        ("noise_var", pa.float64()),
        ("curve", pa.string()),
        ("arm", pa.string()),
        ("risk", pa.float64()),
        ("normalized", pa.float64()),
    ]
)
TABLES = {"identity": IDENTITY, "sampled": SAMPLED}  # of one kind of figure each

Rows = Sequence[Mapping[str, Any]]


class TableError(RuntimeError):
    """A Parquet file, `path`, that cannot be read as the table it should be."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path


@contextmanager
def damage_named() -> Iterator[None]:
    """End the program with a line that names the damaged file and the remedy."""
    try:
        yield
    except TableError as error:
        sys.exit(f"{error}\nTo make it anew: rm {error.path}, then the same command again")


def write_table(
    path: Path, rows: Rows, schema: pa.Schema, metadata: Mapping[str, str] | None = None
) -> None:
    """Write rows in the schema's columns, NaN as missing; the same rows and metadata give the
    same bytes."""
    columns = [
        pa.array([row[field.name] for row in rows], field.type, from_pandas=True)
        for field in schema
    ]
    table = pa.table(columns, schema=schema).replace_schema_metadata(dict(metadata or {}))
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def read_table(path: Path, schema: pa.Schema) -> pd.DataFrame:
    """Read a table, or raise TableError."""
    return _read(path, schema).to_pandas()


def read_all(paths: Iterable[Path], schema: pa.Schema) -> pd.DataFrame:
    """The tables as one; there may be none."""
    tables = [schema.empty_table(), *(_read(path, schema) for path in paths)]
    return pa.concat_tables(tables).to_pandas()


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        # Opened as lightly as can be: there may be thousands of files.
        table = pq.ParquetFile(path).read(use_threads=False)
    except (OSError, pa.ArrowInvalid) as error:
        raise TableError(path, f"not a readable Parquet file ({error})") from error
    missing = sorted(set(schema.names) - set(table.column_names))
    if missing:
        raise TableError(path, f"has no column {', '.join(missing)}")
    return table.select(schema.names).replace_schema_metadata()
