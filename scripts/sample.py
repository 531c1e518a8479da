"""Compute closed forms and numerical optimum of a block of random mixtures."""

import argparse
import logging
from pathlib import Path

from decoupling.tables import SAMPLED, write_table
from decoupling.theory.sampled import sampled_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--mixtures", required=True, type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    write_table(args.output, sampled_table(args.seed, *args.mixtures), SAMPLED)
