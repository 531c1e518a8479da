"""Columns of the tables that figures are drawn from, and reading several as one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from .results import CURVE_KEY, read_table

RISKS = pa.schema(
    [
        *CURVE_KEY,
        ("risk", pa.float64()),
        ("risk_se", pa.float64()),
        ("normalized", pa.float64()),
        ("best_seed", pa.int64()),
        ("median", pa.float64()),
        ("seeds_ok", pa.int64()),
        ("seeds_total", pa.int64()),
    ]
)
THEORY = pa.schema(
    [
        ("setting", pa.string()),
        ("n", pa.int64()),
        ("curve", pa.string()),  # theorem | optimum
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
    ]
)


def read_all(paths: Iterable[Path], schema: pa.Schema) -> pd.DataFrame:
    """The tables as one; there may be none."""
    return pd.concat([schema.empty_table().to_pandas(), *(read_table(p, schema) for p in paths)])
