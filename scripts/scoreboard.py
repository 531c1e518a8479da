"""Score the trained curves named on standard input, as JSON, against their references."""

import json
import sys
from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.analysis import scoretext
from decoupling.analysis.scoreboard import scoreboard
from decoupling.files import atomic_path
from decoupling.tables import (
    BOUNDS,
    RISKS,
    SCOREBOARD,
    THEORY,
    read_all,
    read_published,
    write_table,
)


@cli.command
def main(
    note: Annotated[str, "what the protocol is"],
    published: Path,
    table: Path,
    markdown: Path,
    page: Path,
    risks: list[Path] = (),
    theory: list[Path] = (),
    bounds: list[Path] = (),
) -> None:
    scores = scoreboard(
        json.load(sys.stdin),
        read_all(risks, RISKS),
        read_all(theory, THEORY),
        read_published(published),
        read_all(bounds, BOUNDS),
    )
    for row in scores[scores.broken != ""].itertuples():  # on the terminal
        print(f"Warning: {row.panel}: {row.model}, {row.layers} layers, {row.arm}: {row.broken}")
    write_table(table, scores.to_dict("records"), SCOREBOARD)
    text = scoretext.markdown(scores, note)
    for path, content in ((markdown, text), (page, scoretext.page(text))):
        with atomic_path(path) as temporary:
            temporary.write_text(content)
