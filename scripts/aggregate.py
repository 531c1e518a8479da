"""Choose the best seed of every curve point, and keep its parameters.

The files of runs and, after an empty line, of parameters are named on standard input.
"""

import argparse
import sys
from pathlib import Path

from decoupling.results.aggregate import best_parameters, label_power, seed_minimum
from decoupling.tables import PARAMETERS, RISKS, RUNS, damage_named, read_all, write_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--risks", required=True, type=Path)
    parser.add_argument("--parameters", required=True, type=Path)
    args = parser.parse_args()
    power = label_power(args.spec.read_text())
    runs, parameters = (
        [Path(line) for line in part.splitlines()] for part in sys.stdin.read().split("\n\n")
    )
    with damage_named():
        risks = seed_minimum(read_all(runs, RUNS), power)
        kept = best_parameters(read_all(parameters, PARAMETERS), risks)
    write_table(args.parameters, kept, PARAMETERS)
    write_table(args.risks, risks, RISKS)
