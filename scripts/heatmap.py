"""Draw the scoreboard, and write where it comes from. What the config says of it comes on standard
input, as JSON."""

import argparse
import json
import sys
from pathlib import Path

from decoupling.figures import provenance
from decoupling.figures.heatmap import draw_scoreboard
from decoupling.figures.style import save
from decoupling.results.scoreboard import SCOREBOARD
from decoupling.tables import read_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument("--note", required=True, help="small print")
    parser.add_argument("--code", required=True, help="digest of the code that draws it")
    for name in ("--pdf", "--png", "--provenance"):
        parser.add_argument(name, required=True, type=Path)
    args = parser.parse_args()
    drawn = draw_scoreboard(read_table(args.table, SCOREBOARD), args.note)
    save(drawn, args.pdf, args.png, args.code)
    clone = Path(__file__).resolve().parents[1]
    provenance.write(args.provenance, json.load(sys.stdin), args.code, [args.table], clone)
