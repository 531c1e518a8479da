"""Test a fold's trained models, and baselines, on contexts of the units it holds out."""

import logging
from pathlib import Path
from typing import Annotated

from decoupling import cli
from decoupling.analysis.aggregate import read_parameters
from decoupling.analysis.held_out import held_out_rows
from decoupling.models.curve import Curve
from decoupling.sources.table.spec import read_fold
from decoupling.tables import HELD_OUT, PARAMETERS, read_table, write_table

log = logging.getLogger(__name__)


@cli.command
def main(
    spec: Path,
    table: Annotated[str, "the file with the rows"],
    parameters: Path,
    predictors: Annotated[list[dict], "trained curves, as JSON"],
    n: list[int],
    output: Path,
) -> None:
    curves = [Curve.from_dict(fields) for fields in predictors]
    trained = read_parameters(read_table(parameters, PARAMETERS), curves)
    fold, rows = read_fold(spec.read_text(), table), []
    for length in n:
        log.info("%s n=%d", fold.mix.name, length)
        rows += held_out_rows(fold, length, trained.get(length, {}))
    write_table(output, rows, HELD_OUT)
