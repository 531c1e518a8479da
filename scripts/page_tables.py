"""Write the tables of docs/reproduction.md between its markers."""

import argparse
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from decoupling.files import atomic_path
from decoupling.results import page_tables, page_tables_beyond
from decoupling.results.page import PageError, filled
from decoupling.tables import IDENTITY, SAMPLED, THEORY, read_all, read_published

READERS = {
    ".parquet": pd.read_parquet,
    ".csv": pd.read_csv,
    ".json": lambda path: json.loads(path.read_text()),
}


def kept(folder: Path) -> dict[str, Any]:
    """The files of data/reference that tables are made of, by name."""
    paths = sorted(folder.iterdir())
    return {path.stem: READERS[path.suffix](path) for path in paths if path.suffix in READERS}


def recipes(folder: Path) -> dict[str, str]:
    """Those that are tables already."""
    return {path.stem: path.read_text() for path in sorted(folder.glob("recipe*.md"))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", required=True, type=Path)
    parser.add_argument("--kept", required=True, type=Path, help="data/reference")
    for name in ("--theory", "--sampled", "--identity", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    data = SimpleNamespace(
        **kept(args.kept),
        theory=read_all(args.theory, THEORY),
        sampled=read_all(args.sampled, SAMPLED),
        identity=read_all(args.identity, IDENTITY),
        published=read_published(args.published),
    )
    queries = page_tables.TABLES | page_tables_beyond.TABLES
    try:
        made = recipes(args.kept) | {name: table(data) for name, table in queries.items()}
        page = filled(args.page.read_text(), made)
    except PageError as error:
        sys.exit(f"{args.page}: {error}")
    with atomic_path(args.output) as temporary:
        temporary.write_text(page)
