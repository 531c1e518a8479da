"""Draw a figure of the config."""

import argparse
import json
from pathlib import Path

from decoupling import figures
from decoupling.draw.style import save
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import BAYES, RISKS, TABLES, THEORY, damage_named, read_all, read_published

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", required=True, help="which of decoupling/figures draws it")
    parser.add_argument("--drawing", required=True, type=json.loads, help="what to draw, as JSON")
    parser.add_argument("--note", required=True, help="small print")
    for name in ("--specs", "--risks", "--theory", "--published", "--bayes"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--more", required=True, nargs="*", help="other tables, as name=file")
    parser.add_argument("--pdf", required=True, type=Path)
    parser.add_argument("--png", required=True, type=Path)
    args = parser.parse_args()
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    more: dict[str, list[Path]] = {}
    for name, _, path in (pair.partition("=") for pair in args.more):
        more.setdefault(name, []).append(Path(path))
    with damage_named():
        tables = figures.Tables(
            {mix.name: mix for mix in mixtures},
            read_all(args.risks, RISKS),
            read_all(args.theory, THEORY),
            read_all(args.bayes, BAYES),
            read_published(args.published),
            {name: read_all(paths, TABLES[name]) for name, paths in more.items()},
        )
    save(figures.load(args.kind).draw(args.drawing, tables, args.note), args.pdf, args.png)
