"""Reduce a setting's runs to the best seed per curve point."""

import argparse
import sys
from pathlib import Path

from decoupling.aggregate import seed_minimum
from decoupling.results import RUNS, TableError, read_table, write_table
from decoupling.spec import TaskMixture
from decoupling.tables import RISKS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--runs", required=True, type=Path, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    mix = TaskMixture.from_json(args.spec.read_text())
    try:
        runs = [read_table(path, RUNS) for path in args.runs]
    except TableError as error:
        path = error.path
        sys.exit(f"{error}\nTo make it anew: rm {path} && snakemake {path}")
    write_table(args.output, seed_minimum(runs, mix), RISKS)
