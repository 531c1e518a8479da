"""`make` on machines that lack something: what it says, what it installs, and when."""

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import configs
import pyarrow.parquet as pq
import pytest
from decoupling.config import Config
from decoupling.config.settings import Setting
from decoupling.plan import comparisons, jobs

from .conftest import ROOT, WITHOUT_TORCH, Project

OLD = """
import runpy, sys
sys.version_info = (3, 10, 13)
runpy.run_path(sys.argv[1], run_name='__main__')
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A Makefile whose environment is quick to make: it has no packages."""
    made = tmp_path / "a clone"
    (made / "envs").mkdir(parents=True)
    for name in ("Makefile", "envs/check.py"):
        shutil.copy(ROOT / name, made / name)
    for name in ("requirements", "requirements-torch"):
        (made / f"envs/{name}.txt").touch()
    return made


def make(clone: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """As a user does, whatever `make` the tests themselves were started by."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(
        ["make", *args], cwd=clone, env=inherited | environ, capture_output=True, text=True
    )


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def checked(patch: pytest.MonkeyPatch, version: tuple[int, ...]) -> str | None:
    """What envs/check.py says on this version."""
    check = runpy.run_path(str(ROOT / "envs/check.py"))
    with patch.context() as within:
        within.setattr(sys, "version_info", version)
        return check["problem"]()


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with a compiler, and a folder with Python.h: what is deleted there is missing."""
    compiler = program(tmp_path / "cc", "exit 0")
    (tmp_path / "Python.h").touch()
    monkeypatch.setenv("CC", f"{compiler} -pthread")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 5), (3, 14, 2)])
def test_supported_versions_pass(monkeypatch, complete: Path, version) -> None:
    assert checked(monkeypatch, version) is None


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13), (3, 15, 0)])
def test_other_versions_are_told_which(monkeypatch, complete: Path, version) -> None:
    line = checked(monkeypatch, version)
    assert line.startswith("Python 3.11 to 3.14 is needed")
    assert line.endswith("make PYTHON=python3.12 ...")


@pytest.mark.parametrize(("gone", "package"), [("cc", "gcc"), ("Python.h", "python3.14-dev")])
def test_what_only_new_versions_compile_with(monkeypatch, complete: Path, gone, package) -> None:
    (complete / gone).unlink()
    assert f": apt install {package}, or make" in checked(monkeypatch, (3, 14, 2))
    assert checked(monkeypatch, (3, 13, 5)) is None


def test_pip_and_check_agree_on_versions() -> None:
    check = runpy.run_path(str(ROOT / "envs/check.py"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (first, oldest), (last, newest) = check["OLDEST"], check["NEWEST"]
    assert project["requires-python"] == f">={first}.{oldest},<{last}.{newest + 1}"


def test_all_that_is_missing_is_in_one_line(monkeypatch, complete: Path) -> None:
    (complete / "cc").unlink()
    (complete / "Python.h").unlink()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    line = checked(monkeypatch, (3, 14, 2))
    assert ": apt install python3.14-venv gcc python3.14-dev, or make" in line
    assert "\n" not in line


def test_an_old_python_installs_nothing(clone: Path) -> None:
    old = program(clone / "old", f'exec "{sys.executable}" -c "{OLD}" "$@"')
    done = make(clone, f"PYTHON=./{old.name}", "figures/fig2c.pdf")
    assert done.returncode
    first, *others = done.stderr.splitlines()
    assert first.startswith("Python 3.11 to 3.14 is needed, and this is 3.10")
    assert [line.startswith("make: ***") for line in others] == [True]
    assert not (clone / ".venv").exists()


def test_a_half_made_environment_is_begun_anew(clone: Path) -> None:
    """Of another interpreter, which `venv` alone would keep."""
    left = clone / ".venv/bin/python3"
    left.parent.mkdir(parents=True)
    left.symlink_to("/bin/false")
    done = make(clone, f"PYTHON={sys.executable}", ".venv/installed")
    assert done.returncode == 0, done.stderr
    subprocess.run([left, "-c", "import pip"], check=True)


@pytest.mark.parametrize("writable", [True, False])
def test_cache_is_in_the_clone_where_home_cannot_be_written(clone: Path, writable: bool) -> None:
    program(clone / ".venv/bin/snakemake", 'echo "cache: $XDG_CACHE_HOME"')
    (clone / ".venv/installed").touch()
    home = str(clone) if writable else os.devnull
    done = make(clone, "figures/fig2c.pdf", HOME=home, XDG_CACHE_HOME="")
    assert f"cache: {'' if writable else clone / '.snakemake/cache'}\n" in done.stdout


@pytest.fixture(scope="module")
def config() -> Config:
    return configs.read()


def trained_by_torch(setting: Setting) -> bool:
    return "engines.sequences" in jobs.modules(setting)


def test_torch_is_installed_for_what_needs_it(clone: Path, config: Config) -> None:
    settings = {name for name, setting in config.settings.items() if trained_by_torch(setting)}
    needed = {
        name
        for name, figure in config.figures.items()
        if settings & {*figure.needs(config).get("risks", ())}
    }
    if settings & {*comparisons.scored_settings(config)}:
        needed.add("scoreboard")
    for name in config.figures:
        for suffix in ("pdf", "png"):
            plan = make(clone, "--dry-run", f"figures/{name}.{suffix}").stdout
            assert ("requirements-torch" in plan) == (name in needed), name
    for target in ("all", "unit", "workflow", "slow", "test", "test-all", "report"):
        assert "requirements-torch" in make(clone, "--dry-run", target).stdout, target
    assert "requirements-torch" not in make(clone, "--dry-run", "gallery").stdout  # trains nothing


def test_without_torch(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer is trained, and its metadata have no torch; a transformer's job says what to do."""
    config = project.config
    config["settings"]["tokens"] = config["settings"]["one"] | {"models": ["transformer"]}
    project.write_config(config)
    (project.path / "sitecustomize.py").write_text(WITHOUT_TORCH)
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    trained, failing = (f"{name}/n1/seeds0-1" for name in ("one", "tokens"))
    runs = [f"data/smoke/runs/{block}.parquet" for block in (trained, failing)]
    assert project.snakemake(*runs, check=False).returncode
    stamp = pq.read_schema(project.path / runs[0]).metadata
    assert b"numba" in stamp
    assert b"torch" not in stamp
    log = (project.path / f"logs/smoke/train/{failing}.log").read_text()
    assert log.splitlines()[-1].endswith("which is not installed: make torch")
    assert "Traceback" not in log
