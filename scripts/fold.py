"""Make the spec of a fold from a table: its training units as a task mixture."""

import argparse
import json
import logging
import sys
from pathlib import Path

from decoupling.errors import InputError
from decoupling.files import atomic_path
from decoupling.sources.table.spec import make_spec

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", required=True, help="the fold's name")
    parser.add_argument("--fold", required=True, type=json.loads, help="its block, as JSON")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        spec = make_spec(args.setting, args.fold["block"], args.fold["longest"])
    except InputError as error:
        sys.exit(str(error))
    with atomic_path(args.output) as temporary:
        temporary.write_text(spec)
