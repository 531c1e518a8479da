"""Tables of docs/reproduction.md, taken apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from decoupling.analysis import page_tables, page_tables_beyond


def made(table: str, **data: Any) -> list[list[str]]:
    """The cells of a table's rows."""
    queries = page_tables.TABLES | page_tables_beyond.TABLES
    lines = queries[table](SimpleNamespace(**data)).split("\n")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
