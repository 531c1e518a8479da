"""Put the folds of a table together: held-out risks, standard errors, and what theory predicts."""

import argparse
from pathlib import Path

from decoupling.results.real import real_rows
from decoupling.tables import (
    HELD_OUT,
    REAL,
    REDRAWN,
    RISKS,
    THEORY,
    damage_named,
    read_all,
    write_table,
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", required=True)
    for name in ("--specs", "--risks", "--theory", "--redrawn", "--held-out"):
        parser.add_argument(name, required=True, type=Path, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    specs = [path.read_text() for path in args.specs]
    with damage_named():
        tables = [
            read_all(paths, schema)
            for paths, schema in (
                (args.held_out, HELD_OUT),
                (args.theory, THEORY),
                (args.redrawn, REDRAWN),
                (args.risks, RISKS),
            )
        ]
    write_table(args.output, real_rows(args.setting, *tables, specs), REAL)
