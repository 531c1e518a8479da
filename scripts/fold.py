"""Make the spec of a fold from a table: its training units as a task mixture."""

from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.files import atomic_path
from decoupling.sources.table.spec import make_spec


@cli.command
def main(
    setting: Annotated[str, "the fold's name"],
    fold: Annotated[dict, "its block, as JSON"],
    output: Path,
) -> None:
    spec = make_spec(setting, fold["block"], fold["longest"])
    with atomic_path(output) as temporary:
        temporary.write_text(spec)
