"""Write a page with all figures, small, and what to see in each.

Its entries come on standard input, as JSON.
"""

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from decoupling import cli
from decoupling.files import atomic_path
from PIL import Image

WIDTH = 1000  # pixels, twice those of a page's column
COLOURS = 256

HEAD = """# Gallery

Every figure, drawn from the [archive](../data/archive/README.md) of protocol {protocol}:
`make gallery` makes this page, and trains nothing. A figure's own command trains what it shows; its
cost is that of all settings in it, on a core of the machine that the archive names.
"""


def entry_text(entry: dict[str, Any], page: str) -> str:
    minutes = entry["core_minutes"]
    cost = "not known" if minutes is None else f"{minutes:g} core-minutes"
    trains = "trains nothing" if minutes == 0 else f"trains: {cost}"
    name = entry["figure"]
    return (
        f"### {entry['title']}\n\n![{name}]({page}/{name}.png)\n\n{entry['sentence']}\n\n"
        f"`snakemake figures/{name}.pdf` {trains}\n"
    )


def shrink(path: Path, output: Path) -> None:
    """The picture with fewer pixels and colours."""
    with Image.open(path) as picture:
        opaque = picture.convert("RGB")
    height = round(opaque.height * WIDTH / opaque.width)
    if opaque.width > WIDTH:
        opaque = opaque.resize((WIDTH, height), Image.Resampling.LANCZOS)
    with atomic_path(output) as temporary:
        # of all methods the one that keeps the colours of small markers
        few = opaque.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(temporary, optimize=True)


@cli.command
def main(
    protocol: str,
    figures: list[Path],
    output: Path,
    pictures: Annotated[Path, "the folder of the page's pictures"],
) -> None:
    entries = json.load(sys.stdin)
    for path in figures:
        shrink(path, pictures / path.name)
    parts = [HEAD.format(protocol=protocol)]
    for section, group in groupby(entries, key=lambda entry: entry["section"]):
        parts += [f"## {section}\n", *(entry_text(entry, pictures.name) for entry in group)]
    with atomic_path(output) as temporary:
        temporary.write_text("\n".join(parts))
