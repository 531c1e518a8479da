"""Score every trained curve of every panel against its references."""

import argparse
import json
from pathlib import Path

import pandas as pd
from decoupling.published import read_published
from decoupling.results import atomic_path, read_table, write_table
from decoupling.scoreboard import SCOREBOARD, scoreboard
from decoupling.scoretext import markdown
from decoupling.tables import RISKS, THEORY

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", required=True, type=json.loads, help="what is scored, as JSON")
    parser.add_argument("--note", required=True, help="what the protocol is")
    parser.add_argument("--risks", required=True, type=Path, nargs="+")
    for name in ("--theory", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument("--markdown", required=True, type=Path)
    args = parser.parse_args()
    theory = [THEORY.empty_table().to_pandas(), *(read_table(p, THEORY) for p in args.theory)]
    table = scoreboard(
        args.curves,
        pd.concat([read_table(path, RISKS) for path in args.risks]),
        pd.concat(theory),
        read_published(args.published),
    )
    write_table(args.table, table, SCOREBOARD)
    with atomic_path(args.markdown) as temporary:
        temporary.write_text(markdown(table, args.note))
