"""Keep a protocol's finished risks, their bounds, and what they cost, in data/reference/.

    python scripts/reference.py paper fig2c    # after snakemake --config protocol=paper -- …
    python scripts/reference.py laptop bdf star    # settings with a table: held-out risks
    python scripts/reference.py laptop --name transformer transformer    # in files of another name

By hand and not by a rule: what is kept changes when somebody decides so, not when code does.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from decoupling.results.files import atomic_path
from decoupling.results.tables import (
    BOUNDS,
    PROMPT_SHARE,
    REAL,
    RISKS,
    read_all,
    write_table,
)


def provenance(runs: list[Path]) -> dict[str, str]:
    """What the runs say of themselves, once for each different answer."""
    stamps = [pq.read_schema(path).metadata for path in runs]
    keys = ("protocol", "device", "numpy", "numba", "torch", "runs")
    found = {key: sorted({stamp[key.encode()].decode() for stamp in stamps}) for key in keys}
    return {key: json.dumps(values) for key, values in found.items()}


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


def keep_costs(path: Path, files: list[Path]) -> None:
    costs = pd.DataFrame([cost(path) for path in files]).groupby(["setting", "n"])
    table = costs.agg({"core_minutes": "sum", "max_rss_mb": "max"}).round(2)
    with atomic_path(path) as temporary:
        table.to_csv(temporary)


def keep_real(data: Path, kept: Path, settings: list[str], results: Path) -> None:
    """Of settings with a table."""
    runs = [run for name in settings for run in sorted(data.glob(f"runs/{name}.fold*/*/*.parquet"))]
    rows = read_all([data / f"real/{name}.parquet" for name in settings], REAL).to_dict("records")
    write_table(kept / "real.parquet", rows, REAL, provenance(runs))
    keep_costs(
        kept / "real_costs.csv",
        [path for name in settings for path in results.glob(f"{name}.fold*/*/*.tsv")],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("protocol")
    parser.add_argument("settings", nargs="+")
    parser.add_argument("--name", help="of the files; the protocol's where left out")
    args = parser.parse_args()
    data, kept = Path("data") / args.protocol, Path("data/reference")
    results = Path("benchmarks/results") / args.protocol
    if (data / f"real/{args.settings[0]}.parquet").exists():
        keep_real(data, kept, args.settings, results)
        raise SystemExit
    runs = [run for name in args.settings for run in sorted(data.glob(f"runs/{name}/*/*.parquet"))]
    name = args.name or args.protocol
    risks = read_all([data / f"risks/{name}.parquet" for name in args.settings], RISKS)
    write_table(kept / f"{name}.parquet", risks.to_dict("records"), RISKS, provenance(runs))

    for table, schema in (("bounds", BOUNDS), ("prompt_share", PROMPT_SHARE)):
        made = [path for n in args.settings if (path := data / f"{table}/{n}.parquet").exists()]
        if made:
            rows = read_all(made, schema).to_dict("records")
            write_table(kept / f"{name}_{table}.parquet", rows, schema)

    files = [path for name in args.settings for path in results.glob(f"{name}/*/*.tsv")]
    keep_costs(kept / f"{name}_costs.csv", files)
