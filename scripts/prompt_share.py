"""Measure how much of the attention the prompts of trained models have."""

import argparse
import json
import logging
from pathlib import Path

from decoupling import sources
from decoupling.models.curve import Curve
from decoupling.results.bounds import read_parameters
from decoupling.results.prompt_share import prompt_shares
from decoupling.tables import (
    PARAMETERS,
    PROMPT_SHARE,
    damage_named,
    read_table,
    write_table,
)

log = logging.getLogger(__name__)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="what kind of spec it is")
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--members", required=True, help="what is measured, as JSON")
    parser.add_argument("--parameters", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    members = [Curve.from_dict(fields) for fields in json.loads(args.members)]
    with damage_named():
        parameters = read_parameters(read_table(args.parameters, PARAMETERS), members)
    spec, rows = args.spec.read_text(), []
    for n in sorted(parameters):
        log.info("n = %d", n)
        rows += prompt_shares(sources.load(args.source).read(spec, n), parameters[n])
    write_table(args.output, rows, PROMPT_SHARE)
