"""Draw the scoreboard."""

from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.figures.heatmap import draw_scoreboard
from decoupling.figures.style import save
from decoupling.results.scoreboard import SCOREBOARD
from decoupling.tables import read_table


@cli.command
def main(table: Path, note: Annotated[str, "small print"], pdf: Path, png: Path) -> None:
    save(draw_scoreboard(read_table(table, SCOREBOARD), note), pdf, png)
