"""Errors in a user's input, with a line for each problem; and checks of numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any


class InputError(ValueError):
    """A user's mistake in a config, table or request; `problems` has a line for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class TableError(RuntimeError):
    """The Parquet file `path` is damaged, or lacks a column."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path


class Problems:
    """Collects the problems of the config's block `path`, to raise them together."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[str] = []

    def add(self, key: str, text: str) -> None:
        """`text` says what is wrong and how to fix it."""
        self.lines.append(f"{self.path}.{key}: {text}")

    def stop(self) -> None:
        """Raise InputError if there are any."""
        if self.lines:
            raise InputError(self.lines)


def number_as_text(value: Any) -> str | None:
    """The message for a text that was meant as a number; None for anything else."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        number = None
    if number is None or not math.isfinite(number):
        return None
    meant = int(number) if number.is_integer() else number
    return f"{value!r} was read as text; write {meant!r} (YAML needs 1.0e-3 for 1e-3)"


def is_finite(value: Any) -> bool:
    """Whether double precision can represent the number."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
