"""Compute closed forms and numerical optimum of a block of random mixtures."""

from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.tables import SAMPLED, write_table
from decoupling.theory.random_mixtures import sampled_table


@cli.command
def main(
    seed: int, mixtures: Annotated[tuple[int, int], "the first and the last"], output: Path
) -> None:
    write_table(output, sampled_table(seed, *mixtures), SAMPLED)
