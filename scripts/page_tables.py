"""Write the tables of docs/reproduction.md between its markers."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pandas as pd
from decoupling import cli
from decoupling.analysis import page_tables, page_tables_beyond
from decoupling.analysis.page import filled
from decoupling.errors import InputError
from decoupling.files import atomic_path
from decoupling.tables import THEORY, read_all, read_published

READERS = {
    ".parquet": pd.read_parquet,
    ".csv": pd.read_csv,
    ".json": lambda path: json.loads(path.read_text()),
}


def results(folder: Path) -> dict[str, Any]:
    """The kept results that tables are made from, by the file's name."""
    paths = sorted(folder.iterdir())
    return {path.stem: READERS[path.suffix](path) for path in paths if path.suffix in READERS}


def recipes(folder: Path) -> dict[str, str]:
    """The kept tables of recipes, in Markdown already."""
    return {path.stem: path.read_text() for path in sorted(folder.glob("recipe*.md"))}


@cli.command
def main(
    page: Path,
    kept: Annotated[Path, "data/archive"],
    theory: list[Path],
    published: list[Path],
    output: Path,
) -> None:
    data = SimpleNamespace(
        **results(kept),
        theory=read_all(theory, THEORY),
        published=read_published(published),
    )
    queries = page_tables.TABLES | page_tables_beyond.TABLES
    try:
        made = recipes(kept) | {name: table(data) for name, table in queries.items()}
        text = filled(page.read_text(), made)
    except InputError as error:
        raise InputError([f"{page}: {problem}" for problem in error.problems]) from error
    with atomic_path(output) as temporary:
        temporary.write_text(text)
