"""Measure the prompts' share of the attention of trained models."""

import logging
from pathlib import Path
from typing import Annotated

from decoupling import cli, sources
from decoupling.analysis.aggregate import read_parameters
from decoupling.analysis.prompt_share import prompt_shares
from decoupling.models.curve import Curve
from decoupling.tables import PARAMETERS, PROMPT_SHARE, read_table, write_table

log = logging.getLogger(__name__)


@cli.command
def main(
    source: str,
    spec: Path,
    members: Annotated[list[dict], "curves to measure, as JSON"],
    parameters: Path,
    output: Path,
) -> None:
    curves = [Curve.from_dict(fields) for fields in members]
    trained = read_parameters(read_table(parameters, PARAMETERS), curves)
    text, rows = spec.read_text(), []
    for n in sorted(trained):
        log.info("n = %d", n)
        rows += prompt_shares(sources.load(source).read(text, n), trained[n])
    write_table(output, rows, PROMPT_SHARE)
