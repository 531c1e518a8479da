"""Reading a table: its units, or problems of the table or the config."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...validation import Problems

SIZES = (1e-100, 1e100)  # of a column's largest entry, so that squares and sums do not overflow
TINY = 1e-12  # of a column's largest entry: subtracting entries loses smaller variation
MISSING = ("", "na", "nan", "null", "none", ".")  # for a number; labels may have these names


@dataclass(frozen=True, eq=False)
class Unit:
    """The rows of one unit, in one group, from which contexts are drawn."""

    name: str
    group: str
    cluster: str  # units of one cluster stay in one fold
    x: np.ndarray  # [rows, features]
    y: np.ndarray  # [rows]


@dataclass(frozen=True, eq=False)
class Units:
    """Units with enough rows for every n, and the number of all units."""

    path: str  # of the setting in the config, for messages
    kept: list[Unit]
    total: int
    rows_needed: int

    @property
    def groups(self) -> list[str]:
        return sorted({unit.group for unit in self.kept})


def rows_needed(block: Mapping[str, Any], longest: int) -> int:
    """The rows that a unit needs for a context of this length and its query."""
    return (longest + 1) * (2 if block.get("differences") else 1)


def read_units(path: str, block: Mapping[str, Any], longest: int) -> Units:
    """The units of a block's table, or InputError with a line for every problem."""
    table = _Table(path, block)
    units = table.units()
    needed = rows_needed(block, longest)
    kept = [unit for unit in units if len(unit.y) >= needed]
    found = Units(path, kept, len(units), needed)
    table.check(found, units, longest)
    return found


class _Table:
    """A file's columns, and their problems."""

    def __init__(self, path: str, block: Mapping[str, Any]) -> None:
        self.block, self.problems = block, Problems(path)
        self.lines, self.columns = self._columns()

    def _columns(self) -> tuple[tuple[int, ...], dict[str, tuple[str, ...]]]:
        """The line number of each row, and the columns."""
        file = self.block["table"]
        try:
            with Path(file).open(newline="", encoding="utf-8-sig") as source:
                reader = csv.reader(source)
                (_, header), *rows = [(reader.line_num, row) for row in reader if row]
        except FileNotFoundError:
            self.problems.add("table", f"there is no file {file}; give the path of a CSV file")
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            self.problems.add("table", f"{file} cannot be read ({error}); give a CSV file in UTF-8")
        except ValueError:
            self.problems.add(
                "table", f"{file} is empty; give a CSV file with a line of column names"
            )
        self.problems.stop()
        if not rows:
            self.problems.add("table", f"{file} has no rows below its column names; add some")
        ragged = [(line, len(row)) for line, row in rows if len(row) != len(header)]
        if ragged:
            line, count = ragged[0]
            text = f"line {line} of {file} has {count} entries for "
            self.problems.add("table", f"{text}{len(header)} columns; make them as many")
        for name in sorted({name for name in header if header.count(name) > 1}):
            self.problems.add("table", f"{file} has two columns {name!r}; rename one")
        self.problems.stop()
        lines, entries = zip(*rows, strict=True)
        return lines, dict(zip(header, zip(*entries, strict=True), strict=True))

    def units(self) -> list[Unit]:
        """Units by group and name, sorted."""
        block = self.block
        keys = {key: block[key] for key in ("unit", "group", "fold_by", "target") if key in block}
        known = ", ".join(self.columns)
        for key, names in (*((k, [v]) for k, v in keys.items()), ("features", block["features"])):
            for name in set(names) - set(self.columns):
                self.problems.add(key, f"the table has no column {name!r}; it has {known}")
        if block["target"] in block["features"]:
            self.problems.add(
                "target", f"{block['target']!r} is among the features; remove it there"
            )
        if block.get("intercept") and block.get("differences"):
            self.problems.add(
                "intercept", "differences of rows have none; set one of them to false"
            )
        self.problems.stop()
        labels = [
            self._names(key, keys[key]) for key in ("unit", "group", "fold_by") if key in keys
        ]
        numbers = [self._numbers("features", name) for name in block["features"]]
        target = self._numbers("target", block["target"])
        self.problems.stop()
        return self._gather(labels, np.stack(numbers, axis=1), target)

    def _names(self, key: str, column: str) -> list[str]:
        values = [value.strip() for value in self.columns[column]]
        self._complain_of_missing(key, column, [not value for value in values])
        return values

    def _numbers(self, key: str, column: str) -> np.ndarray:
        values = self.columns[column]
        missing = [value.strip().lower() in MISSING for value in values]
        self._complain_of_missing(key, column, missing)
        numbers = np.array([_number(value) for value in values])
        bad = np.flatnonzero(~np.isfinite(numbers) & ~np.array(missing))
        if len(bad):
            value, line = values[bad[0]], self.lines[bad[0]]
            text = f"{value!r} in column {column}, line {line}, is not a number"
            fix = "write numbers, or leave the column or the row out"
            self.problems.add(key, f"{text}{_more(len(bad))}; {fix}")
        size = np.abs(numbers[np.isfinite(numbers)]).max(initial=0)
        if size and not SIZES[0] <= size <= SIZES[1]:
            text = f"column {column} has entries of the size of {size:.0e}"
            self.problems.add(key, f"{text}, with which nothing can be computed; change its unit")
        return numbers

    def _complain_of_missing(self, key: str, column: str, missing: list[bool]) -> None:
        lines = [line for line, gone in zip(self.lines, missing, strict=True) if gone]
        if lines:
            text = f"column {column} is empty in line {lines[0]}{_more(len(lines))}"
            self.problems.add(key, f"{text}; fill it in, or leave the row out")

    def _gather(self, labels: list[list[str]], x: np.ndarray, y: np.ndarray) -> list[Unit]:
        rows: dict[tuple[str, str], list[int]] = {}
        for i, (unit, group) in enumerate(zip(*labels[:2], strict=True)):
            rows.setdefault((group, unit), []).append(i)
        found = []
        together = labels[-1] if "fold_by" in self.block else labels[0]
        for (group, unit), members in sorted(rows.items()):
            clusters = sorted({together[i] for i in members})
            if len(clusters) > 1:
                text = f"unit {unit!r} is in {clusters[0]!r} and in {clusters[1]!r}"
                self.problems.add("fold_by", f"{text}; name a column that is one value in a unit")
                self.problems.stop()
            found.append(Unit(unit, group, clusters[0], x[members], y[members]))
        return found

    def check(self, units: Units, everything: list[Unit], longest: int) -> None:
        """Check that enough units are left, and that their columns vary."""
        rows = units.rows_needed
        if not units.kept:
            most = max(len(unit.y) for unit in everything)
            text = f"no unit has the {rows} rows that n = {longest} needs; the largest has {most}"
            self.problems.add("n", f"{text}; use shorter contexts")
            self.problems.stop()
        for group in sorted({unit.group for unit in everything}):
            count = sum(unit.group == group for unit in units.kept)
            if count < 2:
                text = f"{group!r} has {count} unit{'' if count == 1 else 's'} with {rows} rows"
                self.problems.add("group", f"{text}; use shorter contexts, or leave its rows out")
        self._check_columns(units)
        self.problems.stop()

    def _check_columns(self, units: Units) -> None:
        within = bool(self.block.get("differences"))
        place = " within units" if within else ""
        own = [unit.x for unit in units.kept]
        columns = [[x[:, i] for x in own] for i in range(own[0].shape[1])]
        still = [
            standstill(name, column, column, within, place)
            for name, column in zip(self.block["features"], columns, strict=True)
        ]
        for text in filter(None, still):
            self.problems.add("features", f"{text}; remove it")
        if not any(still):
            x = np.concatenate([x - x.mean(0) if within else x for x in own])
            x = x - x.mean(0)
            if np.linalg.matrix_rank(x / np.abs(x).max(0)) < x.shape[1]:
                self.problems.add("features", "are linearly dependent; remove one")
        labels = [unit.y for unit in units.kept]
        text = standstill(self.block["target"], labels, labels, within, place)
        if text:
            self.problems.add("target", f"{text}; name another")


def standstill(
    name: str,
    parts: Sequence[np.ndarray],
    everything: Sequence[np.ndarray],
    within: bool,
    place: str,
) -> str | None:
    """The message if a column varies in none of these parts, or by less than rounding loses when
    the mean of all entries is subtracted; else None."""
    ranges = [np.ptp(part) for part in (parts if within else [np.concatenate(parts)])]
    most, size = max(ranges), np.abs(np.concatenate(everything)).max()
    if not most:
        return f"{name!r} {f'does not vary{place}' if place else 'is constant'}"
    if most > TINY * size:
        return None
    text = f"{name!r} varies by {most:.0e}{place}, which is lost beside entries of the size of"
    return f"{text} {size:.0e}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""
