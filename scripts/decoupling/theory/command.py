"""What scripts that compute a table of a mixture have in common."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from ..problem.mixture import TaskMixture
from ..tables import Rows, write_table


def tabulate(
    description: str, table: Callable[[TaskMixture, list[int]], Rows], schema: pa.Schema
) -> None:
    """Read a spec, compute its table at the given context lengths, and write it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    mix = TaskMixture.from_json(args.spec.read_text())
    write_table(args.output, table(mix, args.n), schema)
