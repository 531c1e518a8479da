"""Compute theory's predictions for a table's fold, with other units drawn."""

from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.analysis.redrawn import gate_warning, redrawn_rows
from decoupling.sources.table.spec import read_fold
from decoupling.tables import REDRAWN, write_table


@cli.command
def main(
    spec: Path, table: Annotated[str, "the file with the rows"], n: list[int], output: Path
) -> None:
    fold = read_fold(spec.read_text(), table)
    rows = redrawn_rows(fold, n)
    warning = gate_warning(fold, rows)
    if warning:  # on the terminal; the log has what goes to stderr
        print(f"Warning: {warning}")
    write_table(output, rows, REDRAWN)
