"""Choose the best seed of every curve point, and keep its parameters.

The files of runs and, after an empty line, of parameters are named on standard input.
"""

import sys
from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.analysis.aggregate import (
    best_parameters,
    label_power,
    least_risks,
    seed_minimum,
    warnings,
)
from decoupling.tables import PARAMETERS, RISKS, RUNS, THEORY, read_all, write_table


@cli.command
def main(
    spec: Path,
    risks: Path,
    parameters: Path,
    optimum: Annotated[dict, "the computed curve that is the optimum, by model"],
    remedy: Annotated[str, "what to do where a best seed is above the optimum"],
    theory: list[Path] = (),
) -> None:
    power = label_power(spec.read_text())
    runs, trained = (
        [Path(line) for line in part.splitlines()] for part in sys.stdin.read().split("\n\n")
    )
    least = least_risks(read_all(theory, THEORY), optimum)
    best = seed_minimum(read_all(runs, RUNS), power, least)
    kept = best_parameters(read_all(trained, PARAMETERS), best)
    write_table(parameters, kept, PARAMETERS)
    write_table(risks, best, RISKS)
    for line in warnings(best, remedy):  # on the terminal; the log has what goes to stderr
        print(f"Warning: {line}")
