"""Compute the closed forms and the numerical optimum of a setting."""

from pathlib import Path

from decoupling import cli
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import THEORY, write_table
from decoupling.theory.table import theory_table


@cli.command
def main(spec: Path, n: list[int], output: Path) -> None:
    write_table(output, theory_table(TaskMixture.from_json(spec.read_text()), n), THEORY)
