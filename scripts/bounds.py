"""Evaluate the trained models of one mixture on common contexts, and check what bounds them."""

import argparse
import json
import logging
from pathlib import Path

from decoupling import sources
from decoupling.models.curve import Curve
from decoupling.results.bounds import bounds, read_parameters
from decoupling.tables import (
    BAYES,
    BOUNDS,
    PARAMETERS,
    damage_named,
    read_all,
    read_table,
    write_table,
)

log = logging.getLogger(__name__)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="what kind of spec it is")
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--setting", required=True, help="whose curves are checked")
    parser.add_argument("--members", required=True, help="what is evaluated, as JSON")
    parser.add_argument("--contexts", required=True, type=int, help="held out, of each n")
    parser.add_argument("--parameters", required=True, type=Path, nargs="+")
    parser.add_argument("--bayes", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    members = [Curve.from_dict(fields) for fields in json.loads(args.members)]
    with damage_named():
        parameters = read_parameters(read_all(args.parameters, PARAMETERS), members)
        bayes = read_table(args.bayes, BAYES).set_index("n").to_dict("index")
    spec, rows = args.spec.read_text(), []
    for done, n in enumerate(sorted(bayes)):
        log.info("%s n=%d: %d of %d context lengths done", args.setting, n, done, len(bayes))
        contexts = sources.load(args.source).read(spec, n)
        found = parameters.get(n, {})
        rows += bounds(contexts, members, args.setting, found, bayes[n], args.contexts)
    write_table(args.output, rows, BOUNDS)
