"""Pictures and table of docs/architecture.md, against the DAG, the contract and the folders."""

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


def test_every_module_is_in_the_table_of_folders() -> None:
    text = (ROOT / "docs/architecture.md").read_text().partition("## Words")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.M))
    packages = [path for path in (ROOT / "scripts/decoupling").iterdir() if path.is_dir()]
    modules = [path for package in packages for path in package.rglob("*.py")]
    for path in modules:
        package, *_, name = path.relative_to(ROOT / "scripts/decoupling").with_suffix("").parts
        assert name == "__init__" or f"`{name}`" in rows[package], path
