"""Compute what theory predicts of a table's fold."""

import argparse
import json
from pathlib import Path

from decoupling.problem.design import Design
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import THEORY, write_table
from decoupling.theory.fold_table import fold_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    text = args.spec.read_text()
    mix, table = TaskMixture.from_json(text), json.loads(text)["table"]
    design = Design.from_dict(table["design"])
    write_table(args.output, fold_table(mix, design, args.n, table["label_power"]), THEORY)
