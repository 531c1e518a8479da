"""Draw a figure of the config."""

import argparse
import json
from itertools import islice
from pathlib import Path

from decoupling import figures
from decoupling.figures.style import save
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import FIGURE_TABLES, damage_named, read_all, read_published

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", required=True, help="which of decoupling/figures draws it")
    parser.add_argument("--drawing", required=True, type=json.loads, help="what to draw, as JSON")
    parser.add_argument("--note", required=True, help="small print")
    for name in ("--specs", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    help_text = "how many of the files are of a table, in their order: risks=3 theory=3"
    parser.add_argument("--counts", required=True, nargs="*", help=help_text)
    parser.add_argument("--tables", required=True, type=Path, nargs="*", help="the files")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    files = iter(args.tables)
    named = {
        name: list(islice(files, int(count)))
        for name, count in (pair.split("=") for pair in args.counts)
    }
    with damage_named():
        tables = {
            name: read_all(named.get(name, []), schema)
            for name, (schema, _) in FIGURE_TABLES.items()
        }
    tables["specs"] = {mix.name: mix for mix in mixtures}
    tables["published"] = read_published(args.published)
    save(figures.load(args.kind).draw(args.drawing, tables, args.note), args.pdf, args.png)
