"""Score every trained curve of every panel against its references."""

import argparse
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
from decoupling.published import read_published
from decoupling.results import atomic_path, read_table, write_table
from decoupling.scoreboard import SCOREBOARD, scoreboard
from decoupling.scoretext import markdown
from decoupling.tables import RISKS, THEORY


def read_all(paths: list[Path], schema: pa.Schema) -> pd.DataFrame:
    """The tables as one; there may be none."""
    return pd.concat([schema.empty_table().to_pandas(), *(read_table(p, schema) for p in paths)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", required=True, type=json.loads, help="what is scored, as JSON")
    parser.add_argument("--note", required=True, help="what the protocol is")
    for name in ("--risks", "--theory", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument("--markdown", required=True, type=Path)
    args = parser.parse_args()
    table = scoreboard(
        args.curves,
        read_all(args.risks, RISKS),
        read_all(args.theory, THEORY),
        read_published(args.published),
    )
    write_table(args.table, table, SCOREBOARD)
    with atomic_path(args.markdown) as temporary:
        temporary.write_text(markdown(table, args.note))
