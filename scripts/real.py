"""Put the folds of a table together: held-out risks, standard errors, and predicted risks."""

from pathlib import Path

from decoupling import cli
from decoupling.analysis.cross_validation import real_rows
from decoupling.tables import HELD_OUT, REAL, REDRAWN, RISKS, THEORY, read_all, write_table


@cli.command
def main(
    setting: str,
    specs: list[Path],
    risks: list[Path],
    theory: list[Path],
    redrawn: list[Path],
    held_out: list[Path],
    output: Path,
) -> None:
    files = {HELD_OUT: held_out, THEORY: theory, REDRAWN: redrawn, RISKS: risks}
    tables = [read_all(paths, schema) for schema, paths in files.items()]
    rows = real_rows(setting, *tables, [path.read_text() for path in specs])
    write_table(output, rows, REAL)
