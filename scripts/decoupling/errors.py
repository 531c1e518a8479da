"""What is wrong with what somebody wrote: a line for each problem, and what counts as a number."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any


class InputError(ValueError):
    """A config or a table that is not as it should be; `problems` has a line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class TableError(RuntimeError):
    """A Parquet file, `path`, that cannot be read as the table it should be."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = path


class Problems:
    """Collects what is wrong with one block of the config, `path`, to be raised together."""

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
    """What to say of a text that was meant as a number; None for anything else."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        number = None
    if number is None or not math.isfinite(number):
        return None
    meant = int(number) if number.is_integer() else number
    return f"{value!r} was read as text; write {meant!r} (YAML needs 1.0e-3 for 1e-3)"


def is_finite(value: Any) -> bool:
    """Whether it is a number that double precision has."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
