"""Write explorer.html, one file. Its presets come on standard input, as JSON."""

import argparse
import json
import logging
import sys
from pathlib import Path

import jinja2
from decoupling.figures.explorer import page_data
from decoupling.files import atomic_path
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import BAYES, RISKS, damage_named, read_all, read_published
from plotly.offline import get_plotlyjs

PAGE, STYLE = "page.html.j2", "style.css"
PARTS = ("theory", "state", "dom", "curves", "chart", "controls", "app")  # may use those before
SCRIPTS = tuple(f"{part}.js" for part in PARTS)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", required=True, type=Path, help="folder of the page's sources")
    for name in ("--specs", "--bayes", "--kept", "--published"):
        parser.add_argument(name, required=True, type=Path, nargs="*")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    mixtures = [TaskMixture.from_json(path.read_text()) for path in args.specs]
    with damage_named():
        kept, bayes = read_all(args.kept, RISKS), read_all(args.bayes, BAYES)
    data = page_data(
        json.load(sys.stdin),
        {mix.name: mix for mix in mixtures},
        kept,
        read_published(args.published),
        bayes,
    )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(args.parts), undefined=jinja2.StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {}  # in the order it was given
    page = environment.get_template(PAGE).render(
        style=(args.parts / STYLE).read_text(),
        library=get_plotlyjs(),
        scripts=[(args.parts / name).read_text() for name in SCRIPTS],
        data=data,
    )
    with atomic_path(args.output) as temporary:
        temporary.write_text(page)
