"""Simulate the Bayes-optimal predictor of a setting."""

import argparse
from pathlib import Path

from decoupling.bayes import bayes_table
from decoupling.results import write_table
from decoupling.spec import TaskMixture
from decoupling.tables import BAYES

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    mix = TaskMixture.from_json(args.spec.read_text())
    write_table(args.output, bayes_table(mix, args.n), BAYES)
