"""Draw a figure of the config."""

import argparse
import json
from pathlib import Path

from decoupling.plotting import Tables, draw
from decoupling.published import read_published
from decoupling.spec import TaskMixture
from decoupling.style import save
from decoupling.tables import BAYES, RISKS, THEORY, read_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", required=True, type=json.loads, help="panels, as JSON")
    parser.add_argument("--note", required=True, help="small print")
    for name in ("--specs", "--risks", "--theory", "--published", "--bayes"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    tables = Tables(
        {mix.name: mix for mix in mixtures},
        read_all(args.risks, RISKS),
        read_all(args.theory, THEORY),
        read_published(args.published),
        read_all(args.bayes, BAYES),
    )
    save(draw(args.figure, tables, args.note), args.pdf, args.png)
