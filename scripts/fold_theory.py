"""Compute theory's predictions for a table's fold."""

import json
from pathlib import Path

from decoupling import cli
from decoupling.problem.feature_moments import FeatureMoments
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import THEORY, write_table
from decoupling.theory.fold_table import fold_table


@cli.command
def main(spec: Path, n: list[int], output: Path) -> None:
    text = spec.read_text()
    mix, table = TaskMixture.from_json(text), json.loads(text)["table"]
    moments = FeatureMoments.from_dict(table["design"])
    write_table(output, fold_table(mix, moments, n, table["label_power"]), THEORY)
