"""Draw a figure of the config."""

import argparse
import json
import logging
from pathlib import Path

import pandas as pd
from decoupling.plotting import Tables, draw
from decoupling.published import read_published
from decoupling.results import read_table
from decoupling.spec import TaskMixture
from decoupling.style import save
from decoupling.tables import RISKS, THEORY

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json.loads, help="panels, as JSON")
    parser.add_argument("--note", required=True, help="small print")
    for name in ("--specs", "--risks", "--theory", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on the fonts' own dates
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    tables = Tables(
        {mix.name: mix for mix in mixtures},
        pd.concat([read_table(path, RISKS) for path in args.risks]),
        pd.concat(
            [THEORY.empty_table().to_pandas(), *(read_table(p, THEORY) for p in args.theory)]
        ),
        read_published(args.published),
    )
    save(draw(args.figure, tables, args.note), args.pdf, args.png)
