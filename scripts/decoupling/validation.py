"""Checks of a user's values: numbers, and a collector of problems."""

from __future__ import annotations

import math
from typing import Any

from .errors import InputError


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
