"""Score the trained curves named on standard input, as JSON, against their references."""

import argparse
import json
import sys
from pathlib import Path

from decoupling.files import atomic_path
from decoupling.results.scoreboard import SCOREBOARD, scoreboard
from decoupling.results.scoretext import markdown, page
from decoupling.tables import (
    BOUNDS,
    RISKS,
    THEORY,
    damage_named,
    read_all,
    read_published,
    write_table,
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--note", required=True, help="what the protocol is")
    for name in ("--risks", "--theory", "--bounds", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument("--markdown", required=True, type=Path)
    parser.add_argument("--page", required=True, type=Path)
    args = parser.parse_args()
    with damage_named():
        risks, theory = read_all(args.risks, RISKS), read_all(args.theory, THEORY)
        bounds = read_all(args.bounds, BOUNDS)
    published = read_published(args.published)
    table = scoreboard(json.load(sys.stdin), risks, theory, published, bounds)
    write_table(args.table, table.to_dict("records"), SCOREBOARD)
    text = markdown(table, args.note)
    for path, content in ((args.markdown, text), (args.page, page(text))):
        with atomic_path(path) as temporary:
            temporary.write_text(content)
