"""Simulate the value of knowing a context's task, in a setting."""

from pathlib import Path

from decoupling import cli
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import IDENTITY, write_table
from decoupling.theory.task_inference import identity_table


@cli.command
def main(spec: Path, n: list[int], output: Path) -> None:
    write_table(output, identity_table(TaskMixture.from_json(spec.read_text()), n), IDENTITY)
