"""Tables in Markdown, and pages with tables between their markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Rows = Iterator[tuple[Any, ...]]
Query = Callable[[Any], Rows]

MARK = re.compile(r"<!-- table: (.*?) -->")
MARKED = re.compile(r"^( *)<!-- table: ([^\n]*) -->\n(?:(?!<!--).)*<!-- end -->$", re.M | re.S)


class Tables(dict[str, Callable[[Any], str]]):
    """Functions that make tables from the data, by name."""

    def add(self, header: str, digits: int = 4) -> Callable[[Query], Query]:
        """Register a query of rows under its name. `header` has the columns' names with bars
        between them; `digits` is the number of decimals."""

        def register(query: Query) -> Query:
            self[query.__name__] = lambda data: markdown(header, query(data), digits)
            return query

        return register


def markdown(header: str, rows: Iterable[Sequence[Any]], digits: int = 4) -> str:
    lines = [f"| {header} |", "|" + "---|" * (header.count("|") + 1)]
    for row in rows:
        lines.append("| " + " | ".join(cell(value, digits) for value in row) + " |")
    return "\n".join(lines)


def cell(value: Any, digits: int) -> str:
    """The text of a cell; a pair is a number and its standard error."""
    if isinstance(value, tuple):
        return " ± ".join(number(part, digits) for part in value)
    return number(value, digits) if isinstance(value, float) else str(value)


def number(value: float, digits: int) -> str:
    """The text of a number, without a sign if it rounds to zero: rounding alone would decide it."""
    return f"{value:z.{digits}f}".replace("-", "−")


def percent(value: float, digits: int = 2) -> str:
    """A share as percent, with a sign unless it rounds to zero."""
    text = f"{100 * value:+z.{digits}f}%".replace("-", "−")
    return text if text.strip("+0.%") else text[1:]


def span(values: pd.Series, digits: int) -> str:
    """The range of values, in percent; empty if there are none."""
    if not len(values):
        return ""
    return f"{percent(values.min(), digits)} to {percent(values.max(), digits)}"


def unmarked(pages: Iterable[str], tables: Iterable[str]) -> list[str]:
    """A line for each table without a marker on any page."""
    marked = {name for page in pages for name in MARK.findall(page)}
    return [f"no marker has the table {name}" for name in tables if name not in marked]


def filled(page: str, made: Mapping[str, str], name: Any) -> str:
    """The page with these tables between its markers, indented as its markers are."""
    names = MARK.findall(page)
    wrong = [f"no table is called {name}" for name in names if name not in made]
    whole = {name for _, name in MARKED.findall(page)}
    wrong += [f"the marker of {name} has no <!-- end -->" for name in names if name not in whole]
    if wrong:
        raise InputError([f"{name}: {'; '.join(wrong)}"])

    def fill(found: re.Match[str]) -> str:
        indent, name = found.groups()
        rows = made[name].strip().split("\n")
        lines = [f"<!-- table: {name} -->", "", *rows, "", "<!-- end -->"]
        return "\n".join(indent + line if line else "" for line in lines)

    return MARKED.sub(fill, page)
