"""Choose the best seed of every curve point, and keep its parameters.

The files of runs and, after an empty line, of parameters are named on standard input.
"""

import argparse
import json
import sys
from pathlib import Path

from decoupling.results.aggregate import (
    best_parameters,
    label_power,
    least_risks,
    seed_minimum,
    warnings,
)
from decoupling.tables import PARAMETERS, RISKS, RUNS, THEORY, damage_named, read_all, write_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument(
        "--theory", type=Path, nargs="*", help="where an optimum is, if it is known"
    )
    parser.add_argument("--optimum", type=json.loads, help="the curve of it by model, as JSON")
    parser.add_argument("--remedy", help="what to do where a best seed is above the optimum")
    parser.add_argument("--risks", required=True, type=Path)
    parser.add_argument("--parameters", required=True, type=Path)
    args = parser.parse_args()
    power = label_power(args.spec.read_text())
    runs, parameters = (
        [Path(line) for line in part.splitlines()] for part in sys.stdin.read().split("\n\n")
    )
    with damage_named():
        optimum = least_risks(read_all(args.theory, THEORY), args.optimum)
        risks = seed_minimum(read_all(runs, RUNS), power, optimum)
        kept = best_parameters(read_all(parameters, PARAMETERS), risks)
    write_table(args.parameters, kept, PARAMETERS)
    write_table(args.risks, risks, RISKS)
    for line in warnings(risks, args.remedy):  # where a person sees them; the log has the rest
        print(f"Warning: {line}")
