"""Keeping results: the settings that are named are replaced, the others stay."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from decoupling.tables import BOUNDS, RISKS, RUNS, write_table

SCRIPT = Path(__file__).parents[2] / "scripts/reference.py"
STAMP = dict.fromkeys(("protocol", "device", "numpy", "numba", "torch"), "x")
VALUES = {"string": "attention", "int64": 1, "double": 1.5, "bool": True}


def example(schema, **values) -> dict:
    """A row with something of every column's type."""
    return {f.name: values.get(f.name, VALUES.get(str(f.type))) for f in schema}


def make(folder: Path, setting: str, risk: float, minutes: float) -> None:
    """What a finished setting leaves behind."""
    data = folder / "data/laptop"
    row = example(RISKS, setting=setting, risk=risk)
    write_table(data / f"risks/{setting}.parquet", [row], RISKS)
    write_table(data / f"bounds/{setting}.parquet", [example(BOUNDS, setting=setting)], BOUNDS)
    runs = data / f"runs/{setting}/n1/seeds0-1.parquet"
    write_table(runs, [example(RUNS, setting=setting)], RUNS, STAMP | {"runs": f"of {risk}"})
    costs = folder / f"benchmarks/results/laptop/{setting}/n1/seeds0-1.tsv"
    costs.parent.mkdir(parents=True, exist_ok=True)
    costs.write_text(f"cpu_time\tmax_rss\n{60 * minutes}\t5\n")


def keep(folder: Path, *settings: str, check: bool = True) -> str:
    command = [sys.executable, SCRIPT, "laptop", *settings]
    return subprocess.run(command, cwd=folder, check=check, capture_output=True, text=True).stderr


def test_named_settings_are_replaced_and_others_stay(tmp_path):
    kept = tmp_path / "data/reference"
    kept.mkdir(parents=True)
    make(tmp_path, "one", 1.0, 1.0)
    make(tmp_path, "two", 2.0, 2.0)
    keep(tmp_path, "one", "two")
    make(tmp_path, "one", 1.25, 4.0)
    make(tmp_path, "two", 9.0, 9.0)
    keep(tmp_path, "one")
    risks = pd.read_parquet(kept / "laptop.parquet").set_index("setting").risk
    assert risks.to_dict() == {"one": 1.25, "two": 2.0}
    costs = pd.read_csv(kept / "laptop_costs.csv").set_index("setting").core_minutes
    assert costs.to_dict() == {"one": 4.0, "two": 2.0}
    assert len(pd.read_parquet(kept / "laptop_bounds.parquet")) == 2
    stamps = pq.read_schema(kept / "laptop.parquet").metadata
    runs = {key.decode(): json.loads(value)["runs"] for key, value in stamps.items()}
    assert runs == {"one": ["of 1.25"], "two": ["of 2.0"]}


@pytest.mark.parametrize("missing", ["data/laptop/runs", "benchmarks/results/laptop"])
def test_what_is_missing_is_named_and_nothing_kept(tmp_path, missing):
    kept = tmp_path / "data/reference"
    kept.mkdir(parents=True)
    make(tmp_path, "one", 1.0, 1.0)
    shutil.rmtree(tmp_path / missing)
    (line,) = keep(tmp_path, "one", check=False).splitlines()
    assert line.startswith(missing)
    assert not list(kept.iterdir())
