"""Parquet tables: how they are written and read, and the columns of a training run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

CURVE_KEY = [
    ("setting", pa.string()),
    ("n", pa.int64()),
    ("model", pa.string()),
    ("layers", pa.int64()),
    ("arm", pa.string()),
]

RUNS = pa.schema(
    [
        *CURVE_KEY,
        ("seed", pa.int64()),
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),
        ("iterations", pa.int64()),
        ("status", pa.string()),  # ok | diverged
        ("selection_risk", pa.float64()),  # what the best seed is chosen by
    ]
)


class TableError(RuntimeError):
    """A Parquet file, `path`, that cannot be read as the table it should be."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends without error.

    What a killed writer left behind goes with it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        os.replace(temporary, path)
    finally:
        discard_temporaries(path)


def discard_temporaries(path: Path) -> None:
    for temporary in path.parent.glob(f".{path.name}.*"):
        temporary.unlink(missing_ok=True)


def write_table(
    path: Path, rows: pd.DataFrame, schema: pa.Schema, metadata: Mapping[str, str] | None = None
) -> None:
    """Write rows in the schema's columns; the same rows and metadata give the same bytes."""
    table = pa.Table.from_pandas(rows[schema.names], schema=schema, preserve_index=False)
    table = table.replace_schema_metadata(dict(metadata or {}))
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def read_table(path: Path, schema: pa.Schema) -> pd.DataFrame:
    """Read a table, or raise TableError."""
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowInvalid) as error:
        raise TableError(path, f"not a readable Parquet file ({error})") from error
    missing = sorted(set(schema.names) - set(table.column_names))
    if missing:
        raise TableError(path, f"has no column {', '.join(missing)}")
    return table.select(schema.names).to_pandas()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
