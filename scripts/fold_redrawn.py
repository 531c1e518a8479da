"""Compute what theory would predict of a table's fold, had other units been drawn."""

import argparse
import logging
from pathlib import Path

from decoupling.results.redrawn import redrawn_rows
from decoupling.sources.table.spec import read_fold
from decoupling.tables import REDRAWN, write_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--table", required=True, help="the file with the rows")
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    fold = read_fold(args.spec.read_text(), args.table)
    write_table(args.output, redrawn_rows(fold, args.n), REDRAWN)
