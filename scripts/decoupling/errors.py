"""Errors that a user can mend: they end a program with a message."""

from __future__ import annotations

from pathlib import Path


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
