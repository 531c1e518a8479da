"""Keep a protocol's finished risks, their bounds, and what they cost, in data/reference/.

    python scripts/reference.py paper fig2c    # after snakemake --config protocol=paper -- …
    python scripts/reference.py laptop bdf star    # settings with a table: held-out risks
    python scripts/reference.py laptop --name transformer transformer    # in files of another name

Other settings' kept results stay. No rule runs this: results are kept by somebody's decision, not
because code has changed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from decoupling import cli
from decoupling.files import atomic_path
from decoupling.tables import (
    BOUNDS,
    PROMPT_SHARE,
    REAL,
    RISKS,
    read_all,
    read_table,
    write_table,
)

STAMPED = ("protocol", "device", "numpy", "numba", "torch", "runs")


def found(folder: Path, pattern: str) -> list[Path]:
    """The files of a pattern; there must be at least one."""
    if not (files := sorted(folder.glob(pattern))):
        raise SystemExit(f"{folder}/{pattern} is no file; make the setting first")
    return files


def provenance(runs: Iterable[Path]) -> str:
    """The distinct values of each key in the metadata of runs."""
    stamps = [pq.read_schema(path).metadata for path in runs]
    return json.dumps({key: sorted(answers(stamps, key.encode())) for key in STAMPED})


def answers(stamps: Iterable[Mapping[bytes, bytes]], key: bytes) -> set[str]:
    """The values of a key. Runs that did not use torch have no version of it."""
    return {stamp[key].decode() for stamp in stamps if key in stamp}


def cost(path: Path) -> dict[str, object]:
    """Core-minutes and memory of one job, from Snakemake's benchmark file."""
    measured = pd.read_csv(path, sep="\t").iloc[0]
    *_, setting, n, _ = path.parts
    return {
        "setting": setting,
        "n": int(n.removeprefix("n")),
        "core_minutes": measured.cpu_time / 60,
        "max_rss_mb": measured.max_rss,
    }


@dataclass(frozen=True)
class Files:
    """The kept files of one name, in which these settings are replaced."""

    name: str
    settings: list[str]

    def keep(
        self, suffix: str, made: list[Path], schema: pa.Schema, stamps: Mapping[str, str]
    ) -> None:
        """Replace the settings' rows. `stamps` is their provenance, for the file's metadata."""
        path = self._path(f"{suffix}.parquet")
        rows = read_all(made, schema)
        known = {}
        if path.exists():
            rows = self._replaced(read_table(path, schema), rows)
            texts = pq.read_schema(path).metadata or {}
            known = {key.decode(): value.decode() for key, value in texts.items()}
        rows = rows.sort_values("setting", kind="stable")
        write_table(path, rows.to_dict("records"), schema, known | dict(stamps))

    def keep_costs(self, files: Iterable[Path]) -> None:
        costs = pd.DataFrame([cost(path) for path in files]).groupby(["setting", "n"])
        table = costs.agg({"core_minutes": "sum", "max_rss_mb": "max"}).round(2).reset_index()
        path = self._path("_costs.csv")
        if path.exists():
            table = self._replaced(pd.read_csv(path), table)
        with atomic_path(path) as temporary:
            table.sort_values(["setting", "n"]).to_csv(temporary, index=False)

    def _replaced(self, old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
        """A fold, `{setting}.fold{i}`, belongs to its setting."""
        owners = old.setting.str.partition(".fold")[0]
        return pd.concat([old[~owners.isin(self.settings)], new])

    def _path(self, suffix: str) -> Path:
        return Path("data/reference") / f"{self.name}{suffix}"


NAME = "of the files; the protocol's, or `real`, where left out"


@cli.command
def main(protocol: str, settings: list[str], /, name: Annotated[str, NAME] = "") -> None:
    data = Path("data") / protocol
    real = (data / f"real/{settings[0]}.parquet").exists()
    folder, schema, part = ("real", REAL, ".fold*") if real else ("risks", RISKS, "")

    files = Files(name or ("real" if real else protocol), settings)
    stamps = {one: provenance(found(data, f"runs/{one}{part}/*/*.parquet")) for one in settings}
    results = Path("benchmarks/results") / protocol
    costs = [path for one in settings for path in found(results, f"{one}{part}/*/*.tsv")]
    files.keep("", [data / f"{folder}/{one}.parquet" for one in settings], schema, stamps)
    for table, schema in (("bounds", BOUNDS), ("prompt_share", PROMPT_SHARE)):
        made = [path for one in settings if (path := data / f"{table}/{one}.parquet").exists()]
        if made:
            files.keep(f"_{table}", made, schema, {})
    files.keep_costs(costs)
