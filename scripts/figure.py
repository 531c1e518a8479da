"""Draw a figure of the config, and write where it comes from. What the config says of it comes on
standard input, as JSON."""

import argparse
import json
import sys
from pathlib import Path

from decoupling import figures
from decoupling.figures import provenance
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
    parser.add_argument("--tables", required=True, type=json.loads, help="files by table, as JSON")
    parser.add_argument("--code", required=True, help="digest of the code that draws it")
    for name in ("--pdf", "--png", "--provenance"):
        parser.add_argument(name, required=True, type=Path)
    args = parser.parse_args()
    files = [Path(file) for files in args.tables.values() for file in files]
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    with damage_named():
        tables = {
            name: read_all(map(Path, args.tables.get(name, [])), schema)
            for name, (schema, _) in FIGURE_TABLES.items()
        }
    tables["specs"] = {mix.name: mix for mix in mixtures}
    tables["published"] = read_published(args.published)
    drawn = figures.load(args.kind).draw(args.drawing, tables, args.note)
    save(drawn, args.pdf, args.png, args.code)
    inputs = [*args.specs, *files, *args.published]
    clone = Path(__file__).resolve().parents[1]
    provenance.write(args.provenance, json.load(sys.stdin), args.code, inputs, clone)
