"""Draw a figure of the config, and write its provenance.

The workflow's text about it (`plan.drawing`) comes on standard input, as JSON.
"""

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

from decoupling import cli, figures
from decoupling.analysis import shortfall
from decoupling.figures.provenance import write as write_provenance
from decoupling.figures.style import save
from decoupling.problem.mixture import TaskMixture
from decoupling.tables import FIGURE_TABLES, read_all, read_published


@cli.command
def main(
    code: Annotated[str, "digest of the code that draws it"],
    pdf: Path,
    png: Path,
    provenance: Path,
    specs: list[Path] = (),
    tables: Annotated[list[Path], "in the order of FIGURE_TABLES"] = (),
    published: list[Path] = (),
) -> None:
    told = json.load(sys.stdin)
    about, held_to, note = told["about"], told["held_to"], told["note"]
    mixtures = [TaskMixture.from_json(path.read_text()) for path in specs]
    files = iter(tables)
    read = {
        name: read_all(islice(files, told["counts"].get(name, 0)), schema)
        for name, (schema, _) in FIGURE_TABLES.items()
    }
    read["specs"] = {mix.name: mix for mix in mixtures}
    read["published"] = read_published(*published or [None])
    drawn = {curve for recipe in about["recipes"] for curve in recipe["curves"]}
    high = shortfall.shortfalls(read, held_to, drawn)
    note += shortfall.small_print(high)
    for line in shortfall.warnings(high, held_to["remedies"]):
        print(f"Warning: {line}")  # on the terminal; the log has what goes to stderr
    figure = figures.load(about["kind"]).draw(told["plot_spec"], read, note)
    save(figure, pdf, png, code)
    inputs = [*specs, *tables, *published]
    clone = Path(__file__).resolve().parents[1]
    write_provenance(provenance, about, code, inputs, clone)
