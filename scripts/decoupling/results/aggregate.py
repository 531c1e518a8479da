"""From runs to risks: the best seed of every curve point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .results import CURVE_KEY, RUNS, read_table
from .spec import TaskMixture

NO_SEED = -1


def read_runs(paths: Sequence[Path]) -> pd.DataFrame:
    """Runs as one table, or TableError. There may be thousands of files, so they are opened as
    lightly as can be, and become a DataFrame together: a third of `read_table`'s time for each."""
    try:
        tables = [pq.ParquetFile(path).read(use_threads=False) for path in paths]
        return pa.concat_tables(table.select(RUNS.names) for table in tables).to_pandas()
    except (OSError, KeyError, pa.ArrowInvalid):
        # The slow way says which file is wrong.
        return pd.concat([read_table(path, RUNS) for path in paths], ignore_index=True)


def seed_minimum(runs: pd.DataFrame, mix: TaskMixture) -> pd.DataFrame:
    """A row per (n, model, layers, arm): the risk of the seed with the least selection risk.

    Diverged seeds are counted and left out; where all diverged, the risk is missing.
    """
    keys = [name for name, _ in CURVE_KEY]
    duplicated = runs.duplicated([*keys, "seed"])
    if duplicated.any():
        raise ValueError(
            f"seed trained twice: {runs[duplicated].iloc[0][[*keys, 'seed']].to_dict()}"
        )
    rows = [
        {**dict(zip(keys, key, strict=True)), **_summary(group, mix.label_power)}
        for key, group in runs.groupby(keys, sort=True)
    ]
    return pd.DataFrame(rows)


def _summary(group: pd.DataFrame, label_power: float) -> dict[str, float | int]:
    ok = group[group.status == "ok"].sort_values("seed")
    best = ok.loc[ok.selection_risk.idxmin()] if len(ok) else None
    risk = float("nan") if best is None else best.risk
    return {
        "risk": risk,
        "risk_se": float("nan") if best is None else best.risk_se,
        "normalized": risk / label_power,
        "best_seed": NO_SEED if best is None else best.seed,
        "median": ok.risk.median(),
        "seeds_ok": len(ok),
        "seeds_total": len(group),
    }
