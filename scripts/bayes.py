"""Simulate the Bayes-optimal predictor of a setting."""

from pathlib import Path

from decoupling import cli
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import BAYES, write_table
from decoupling.theory.bayes import bayes_table


@cli.command
def main(spec: Path, n: list[int], output: Path) -> None:
    write_table(output, bayes_table(TaskMixture.from_json(spec.read_text()), n), BAYES)
