"""Choose the best seed of every curve point, and keep its parameters.

The files of runs and, after an empty line, of parameters are named on standard input.
"""

import sys
from pathlib import Path

from decoupling import cli
from decoupling.analysis.aggregate import best_parameters, label_power, seed_minimum
from decoupling.tables import PARAMETERS, RISKS, RUNS, read_all, write_table


@cli.command
def main(spec: Path, risks: Path, parameters: Path) -> None:
    power = label_power(spec.read_text())
    runs, trained = (
        [Path(line) for line in part.splitlines()] for part in sys.stdin.read().split("\n\n")
    )
    best = seed_minimum(read_all(runs, RUNS), power)
    kept = best_parameters(read_all(trained, PARAMETERS), best)
    write_table(parameters, kept, PARAMETERS)
    write_table(risks, best, RISKS)
