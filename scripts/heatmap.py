"""Draw the scoreboard."""

import argparse
from pathlib import Path

from decoupling.figures.heatmap import draw_scoreboard
from decoupling.figures.style import save
from decoupling.results.scoreboard import SCOREBOARD
from decoupling.tables import read_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument("--note", required=True, help="small print")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    save(draw_scoreboard(read_table(args.table, SCOREBOARD), args.note), args.pdf, args.png)
