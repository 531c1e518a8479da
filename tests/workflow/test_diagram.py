"""The pictures in docs/architecture.md: the rules are the DAG's, the layers those of the contract."""

import re
import runpy
import tomllib
from pathlib import Path

from .conftest import ROOT, copy_sources


def test_diagram_is_in_step_with_the_rules(tmp_path: Path) -> None:
    dot = copy_sources(tmp_path / "project").snakemake("--filegraph").stdout
    diagram = runpy.run_path(str(ROOT / "docs/diagram.py"))["diagram"](dot)
    assert diagram in (ROOT / "docs/architecture.md").read_text(), "out of date: make docs"


def test_layers_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in contract["contracts"])
    picture = re.search(r"```text\n(.*?)```", (ROOT / "docs/architecture.md").read_text(), re.S)
    assert [re.split(r"  +", line)[0] for line in picture[1].splitlines()] == layers
