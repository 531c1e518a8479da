"""Write explorer.html, one file. Its presets come on standard input, as JSON."""

import json
import sys
from pathlib import Path
from typing import Annotated

import jinja2
from decoupling import cli
from decoupling.figures.explorer import page_data
from decoupling.files import atomic_path
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import BAYES, RISKS, read_all, read_published
from plotly.offline import get_plotlyjs

PAGE, STYLE = "page.html.j2", "style.css"
PARTS = ("theory", "state", "dom", "curves", "chart", "controls", "app")  # in order of use
SCRIPTS = tuple(f"{part}.js" for part in PARTS)


@cli.command
def main(
    parts: Annotated[Path, "folder of the page's sources"],
    archived: list[Path],
    published: Path,
    output: Path,
    specs: list[Path] = (),
    bayes: list[Path] = (),
) -> None:
    mixtures = [TaskMixture.from_json(path.read_text()) for path in specs]
    data = page_data(
        json.load(sys.stdin),
        {mix.name: mix for mix in mixtures},
        read_all(archived, RISKS),
        read_published(published),
        read_all(bayes, BAYES),
    )
    loader = jinja2.FileSystemLoader(parts)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {}  # keys keep their order
    page = environment.get_template(PAGE).render(
        style=(parts / STYLE).read_text(),
        library=get_plotlyjs(),
        scripts=[(parts / name).read_text() for name in SCRIPTS],
        data=data,
    )
    with atomic_path(output) as temporary:
        temporary.write_text(page)
