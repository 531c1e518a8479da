"""The diagram in docs/architecture.md is the DAG's."""

import runpy
from pathlib import Path

from .conftest import ROOT, copy_sources


def test_diagram_is_in_step_with_the_rules(tmp_path: Path) -> None:
    dot = copy_sources(tmp_path / "project").snakemake("--filegraph").stdout
    diagram = runpy.run_path(str(ROOT / "docs/diagram.py"))["diagram"](dot)
    assert diagram in (ROOT / "docs/architecture.md").read_text(), "out of date: make docs"
