"""Parquet tables: their columns, and how they are written and read.

pandas is imported when the first table is read, so that importing this module is quick.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import InputError, TableError
from .files import atomic_path

if TYPE_CHECKING:
    import pandas as pd

ARROW = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[int]: pa.list_(pa.int64()),
    list[float]: pa.list_(pa.float64()),
}


def columns(**types: type) -> pa.Schema:
    return pa.schema([(name, ARROW[kind]) for name, kind in types.items()])


POINT = {
    "setting": str,
    "n": int,
    "model": str,
    "layers": int,
    "arm": str,
}  # of a curve's point
CURVE = ("setting", "model", "layers", "arm")  # columns that identify a curve
RISK = {"risk": float, "risk_se": float}
SEEDS = {"best_seed": int, "median": float, "seeds_ok": int, "seeds_total": int}

# `status` is ok, diverged or stopped (by halving); the best seed is chosen by `selection_risk`;
# `tail_share` is the share of the risk (without σ²) in the largest 0.1% of held-out squared errors;
# `descent_left`, if risks are exact, the share of the risk that a further search takes off the best
# seed of the file
RUNS = columns(
    **POINT, seed=int, **RISK, iterations=int, status=str, selection_risk=float, tail_share=float,
    descent_left=float,
)  # fmt: skip
RISKS = columns(
    **POINT, **RISK, normalized=float, **SEEDS, normalized_se=float, tail_share=float,
    seeds_stopped=int, descent_left=float,
)  # fmt: skip
# A row per parameter of the best seed; `values` in C order
PARAMETERS = columns(**POINT, seed=int, name=str, shape=list[int], values=list[float])
BAYES_BOUND = "Bayes"
BOUND_ERRORS = 3  # standard errors within which a bound holds
BASELINE = "baseline"  # in the column `model`: predictors that are not trained
# `excess` is above 0 if risks break the bound: the risk less that of an arm or a depth, or Bayes'
# less the risk
BOUNDS = columns(**POINT, bound=str, excess=float, excess_se=float, holds=bool)
# `curve` names the reference: theorem, optimum, centred or energy
THEORY = columns(setting=str, n=int, curve=str, arm=str, risk=float, normalized=float)
BAYES = columns(setting=str, n=int, **RISK, normalized=float, normalized_se=float)
# `told` is right, soft, map, wrong or nothing; `wrong` is P(the likeliest task is the wrong one)
IDENTITY = columns(
    **{"setting": str, "n": int, "arm": str, "told": str, **RISK},
    **dict.fromkeys(("normalized", "normalized_se", "wrong", "wrong_se"), float),
)
SAMPLED = columns(  # `mixture` is the number of the mixture
    **{"mixture": int, "d": int, "K": int, "n": int, "noise_var": float},
    **{"curve": str, "arm": str, "risk": float, "normalized": float},
)
# A row per predictor, n and held-out unit; `setting` is the fold, `model` can be `baseline`
HELD_OUT = columns(**POINT, group=str, unit=str, cluster=str, risk=float, label_power=float)
PREDICTIONS = ("theorem", "measured", "independent")  # the column `curve` of a fold's theory
# A fold's theory in a draw of the bootstrap; `gate` is the predicted E[y²] over the measured one
REDRAWN = columns(
    setting=str, draw=int, n=int, curve=str, arm=str, risk=float, gate=float
)  # fmt: skip
# All folds together. Columns not called risk are divided by the data's E[y²], `label_power`. `gain`
# is over plain, `over_shared` over shared, `over_mean` over the group's mean. `theorem`, `measured`
# and `independent` are predicted risks, `<curve>_gain` predicted gains; their `_se` are standard
# errors of the paired difference from the measured one. `gate` is E[y²] predicted over measured.
# `descent_left` is the largest of the folds
REAL = columns(
    **POINT, **RISK, normalized=float, normalized_se=float, gain=float, gain_se=float,
    over_shared=float, over_shared_se=float, over_mean=float, over_mean_se=float,
    theorem=float, measured=float, independent=float,
    training_risk=float, seeds=int, gate=float, units=int, units_total=int, clusters=int,
    label_power=float, gate_se=float,
    **{f"{curve}{what}": float for curve in PREDICTIONS
       for what in ("_risk", "_se", "_gain", "_gain_se")},
    descent_left=float,
)  # fmt: skip
# `head` is 1 for the attention head with the largest `share`, its prompt's mean weight; a tenth
# of the contexts have a weight below `low`, and a tenth one above `high`
PROMPT_SHARE = columns(**POINT, head=int, share=float, share_se=float, low=float, high=float)
# Relative deviations of a curve's risks from its references; `broken` names broken bounds, in words
DEVIATIONS = [
    f"{reference}_{what}"
    for reference in ("theorem", "optimum", "published", "centred")
    for what in ("worst", "mean")
]
SCOREBOARD = columns(
    **{"panel": str, "model": str, "layers": int, "arm": str},
    **dict.fromkeys(DEVIATIONS[:-2], float),
    **{"seeds_ok_least": int, "verdict": str, "has_theorem": bool},
    **dict.fromkeys(DEVIATIONS[-2:], float),
    **{"broken": str, "error_worst": float, "tail_worst": float},
)
# Relative differences of this machine's numbers from the archive's; `verdict` is identical, within
# (what is allowed) or differs
VERIFY = columns(
    **POINT, quantity=str, archived=float, mine=float, difference=float, allowed=float, verdict=str
)
PUBLISHED = ("setting", "model", "arm", "n", "risk")  # columns of the authors' CSV files
# Tables that figures are drawn from: columns, and path by name; `root` is the folder of results
FIGURE_TABLES = {
    "risks": (RISKS, "{root}/{protocol}/risks/{name}.parquet"),
    "theory": (THEORY, "data/theory/{name}.parquet"),
    "bayes": (BAYES, "{root}/bayes/{name}.parquet"),
    "identity": (IDENTITY, "{root}/identity/{name}.parquet"),
    "sampled": (SAMPLED, "{root}/sampled/{name}.parquet"),
    "real": (REAL, "{root}/{protocol}/real/{name}.parquet"),
    "prompt_share": (PROMPT_SHARE, "{root}/{protocol}/prompt_share/{name}.parquet"),
    "scoreboard": (SCOREBOARD, "{root}/{protocol}/{name}.parquet"),
}

Rows = Sequence[Mapping[str, Any]]


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


def read_stamp(path: Path) -> dict[str, str]:
    """A table's metadata."""
    found = pq.read_schema(path).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items()}


def read_all(paths: Iterable[Path], schema: pa.Schema) -> pd.DataFrame:
    """Tables as one, which is empty if there are no paths."""
    tables = [schema.empty_table(), *(_read(path, schema) for path in paths)]
    return pa.concat_tables(tables).to_pandas()


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        # The cheapest way to open a file, as there may be thousands.
        table = pq.ParquetFile(path).read(use_threads=False)
    except (OSError, pa.ArrowInvalid) as error:
        raise TableError(path, f"not a readable Parquet file ({error})") from error
    missing = sorted(set(schema.names) - set(table.column_names))
    if missing:
        raise TableError(path, f"has no column {', '.join(missing)}")
    return table.select(schema.names).replace_schema_metadata()


def read_published(path: Path | None) -> pd.DataFrame:
    """One-layer risks that the paper's authors published; without a file, no rows."""
    import pandas as pd

    table = pd.read_csv(path) if path else pd.DataFrame(columns=PUBLISHED)
    missing = [name for name in PUBLISHED if name not in table]
    if missing:
        raise InputError([f"{path}: has no column {', '.join(missing)}"])
    return table[list(PUBLISHED)].assign(layers=1)
