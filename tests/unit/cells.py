"""Tables of the docs, taken apart."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from decoupling.analysis.page_tables import TABLES


def made(table: str, **data: Any) -> list[list[str]]:
    """The cells of a table's rows."""
    lines = TABLES[table](SimpleNamespace(**data)).split("\n")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
