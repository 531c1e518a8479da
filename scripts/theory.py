"""Compute the theorems and the exact optimum of a setting."""

import argparse
import logging
from pathlib import Path

from decoupling.curves import theory_table
from decoupling.results import write_table
from decoupling.spec import TaskMixture
from decoupling.tables import THEORY

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    mix = TaskMixture.from_json(args.spec.read_text())
    write_table(args.output, theory_table(mix, args.n), THEORY)
