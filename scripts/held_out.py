"""Test a fold's trained models, and baselines, on contexts of the units it holds out."""

import argparse
import json
import logging
from pathlib import Path

from decoupling.models.curve import Curve
from decoupling.results.bounds import read_parameters
from decoupling.results.held_out import held_out_rows
from decoupling.sources.table.spec import read_fold
from decoupling.tables import HELD_OUT, PARAMETERS, damage_named, read_table, write_table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--table", required=True, help="the file with the rows")
    parser.add_argument("--parameters", required=True, type=Path)
    parser.add_argument("--predictors", required=True, type=json.loads, help="what is trained")
    parser.add_argument("--n", required=True, type=int, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    members = [Curve.from_dict(fields) for fields in args.predictors]
    with damage_named():
        parameters = read_parameters(read_table(args.parameters, PARAMETERS), members)
    fold, rows = read_fold(args.spec.read_text(), args.table), []
    for n in args.n:
        logging.info("%s n=%d", fold.mix.name, n)
        rows += held_out_rows(fold, n, parameters.get(n, {}))
    write_table(args.output, rows, HELD_OUT)
