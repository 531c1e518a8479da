"""Columns of the tables that figures are drawn from."""

from __future__ import annotations

import pyarrow as pa

from .results import CURVE_KEY

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
