"""Write the tables of the docs between their markers, and archived points as CSV files."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pandas as pd
from decoupling import cli
from decoupling.analysis.page import filled, unmarked
from decoupling.analysis.page_tables import TABLES
from decoupling.analysis.points import csv_files
from decoupling.errors import InputError
from decoupling.files import atomic_path
from decoupling.tables import THEORY, read_all, read_published

READERS = {
    ".parquet": pd.read_parquet,
    ".csv": pd.read_csv,
    ".json": lambda path: json.loads(path.read_text()),
}


def results(folder: Path) -> dict[str, Any]:
    """Archived results that tables are made from, by the file's name."""
    paths = sorted(folder.iterdir())
    return {path.stem: READERS[path.suffix](path) for path in paths if path.suffix in READERS}


def written(folder: Path) -> dict[str, str]:
    """Archived tables of recipes, already in Markdown."""
    return {path.stem: path.read_text() for path in sorted(folder.glob("[!R]*.md"))}


@cli.command
def main(
    pages: list[Path],
    archive: Annotated[Path, "data/archive"],
    theory: list[Path],
    published: Path,
    output: Annotated[list[Path], "the pages, in the same order"],
    csv: Annotated[Path, "the folder of the CSV files"],
) -> None:
    data = SimpleNamespace(
        **results(archive),
        theory=read_all(theory, THEORY),
        published=read_published(published),
    )
    texts = {path: path.read_text() for path in pages}
    if problems := unmarked(texts.values(), TABLES):
        raise InputError(problems)
    made = written(archive) | {name: table(data) for name, table in TABLES.items()}
    pages = [filled(text, made, path) for path, text in texts.items()]
    found = dict(zip(output, pages, strict=True))
    found |= {csv / name: text for name, text in csv_files(data).items()}
    for path, text in found.items():
        with atomic_path(path) as temporary:
            temporary.write_text(text)
