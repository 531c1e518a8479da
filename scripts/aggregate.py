"""Choose the best seed of every curve point; the runs' files are named on standard input."""

import argparse
import sys
from pathlib import Path

from decoupling.problem.mixture import TaskMixture
from decoupling.results.aggregate import seed_minimum
from decoupling.results.tables import RISKS, RUNS, damage_named, read_all, write_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    mix = TaskMixture.from_json(args.spec.read_text())
    with damage_named():
        runs = read_all([Path(line) for line in sys.stdin.read().splitlines()], RUNS)
    write_table(args.output, seed_minimum(runs, mix), RISKS)
