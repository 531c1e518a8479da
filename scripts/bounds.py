"""Evaluate the trained models of one mixture on common contexts, and check their bounds."""

import logging
from pathlib import Path
from typing import Annotated

from decoupling import cli, sources
from decoupling.analysis import bounds
from decoupling.analysis.aggregate import read_parameters
from decoupling.models.curve import Curve
from decoupling.tables import BAYES, BOUNDS, PARAMETERS, read_all, read_table, write_table

log = logging.getLogger(__name__)


@cli.command
def main(
    source: str,
    spec: Path,
    setting: Annotated[str, "its curves are checked"],
    members: Annotated[list[dict], "curves to evaluate, as JSON"],
    contexts: Annotated[int, "held-out contexts at each n"],
    parameters: list[Path],
    bayes: Path,
    output: Path,
) -> None:
    curves = [Curve.from_dict(fields) for fields in members]
    trained = read_parameters(read_all(parameters, PARAMETERS), curves)
    optimal = read_table(bayes, BAYES).set_index("n").to_dict("index")
    text, rows = spec.read_text(), []
    for done, n in enumerate(sorted(optimal)):
        log.info("%s n=%d: %d of %d context lengths done", setting, n, done, len(optimal))
        drawn = sources.load(source).read(text, n)
        rows += bounds.bounds(drawn, curves, setting, trained.get(n, {}), optimal[n], contexts)
    write_table(output, rows, BOUNDS)
