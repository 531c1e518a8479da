"""Reduce a setting's runs, whose files are named on standard input, to the best seed per point."""

import argparse
import sys
from pathlib import Path

from decoupling.aggregate import read_runs, seed_minimum
from decoupling.results import TableError, write_table
from decoupling.spec import TaskMixture
from decoupling.tables import RISKS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    mix = TaskMixture.from_json(args.spec.read_text())
    try:
        runs = read_runs([Path(line) for line in sys.stdin.read().splitlines()])
    except TableError as error:
        path = error.path
        sys.exit(f"{error}\nTo make it anew: rm {path} && snakemake {path}")
    write_table(args.output, seed_minimum(runs, mix), RISKS)
