"""The conda environment has the same pins as the pip ones, and all that jobs import."""

import ast
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from .conftest import ROOT

PIP_NAME = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch"}
MODULE = {"markdown_it_py": "markdown_it", "pillow": "PIL", "pyyaml": "yaml"}
SCRIPTS = ROOT / "scripts"
BESIDE_JOBS = {*(SCRIPTS / "decoupling/plan").rglob("*.py"), SCRIPTS / "archive.py"}
PIP_FILES = ("requirements", "requirements-torch")


def pip_pins() -> dict[str, str]:
    """Of both files, in which each package is once."""
    lines = [x for name in PIP_FILES for x in (ROOT / f"envs/{name}.txt").read_text().splitlines()]
    pins = dict(line.lower().split("==") for line in lines)
    assert len(pins) == len(lines)
    return pins


def test_every_requirement_is_pinned() -> None:
    assert all(version for version in pip_pins().values())


def conda_pins(name: str) -> dict[str, str]:
    """Of an environment of the rules, with what it has from PyPI."""
    listed = yaml.safe_load((ROOT / f"envs/{name}.yaml").read_text())["dependencies"]
    from_pypi = [pin for part in listed if isinstance(part, dict) for pin in part["pip"]]
    pins = dict(pin.split("=") for pin in listed if isinstance(pin, str) and pin != "pip")
    return pins | dict(pin.split("==") for pin in from_pypi)


@pytest.mark.parametrize("name", ["pipeline", "tables"])
def test_conda_pins_are_the_pip_pins(name: str) -> None:
    conda = conda_pins(name)
    del conda["python"]
    assert conda == {name: pip_pins()[PIP_NAME.get(name, name)] for name in conda}


def imported(paths: Iterable[Path]) -> set[str]:
    """What they import that Python does not have itself, but for the library."""
    found = {
        name.split(".")[0]
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    return found - set(sys.stdlib_module_names) - {"decoupling"}


def modules(packages: Iterable[str]) -> set[str]:
    names = {PIP_NAME.get(name, name).replace("-", "_") for name in packages}
    return {MODULE.get(name, name) for name in names}


def test_what_jobs_import_is_in_the_environment() -> None:
    paths = {*SCRIPTS.rglob("*.py")} - BESIDE_JOBS
    assert imported(paths) <= modules([*conda_pins("pipeline"), *conda_pins("tables")])


def test_what_is_used_beside_jobs_is_installed_with_snakemake() -> None:
    assert imported(BESIDE_JOBS) <= modules(pip_pins())
