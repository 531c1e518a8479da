"""A clone of the project to run Snakemake in, and what its dry runs plan."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

ROOT = Path(__file__).parents[2]
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".kernels"))  # compiled once for all projects
PYTHONPATH = os.environ.get("PYTHONPATH")
SOURCES = (
    "Snakefile",
    "rules",
    "report",
    "explorer",
    "scripts",
    "config",
    "profiles",
    "envs",
    "docs",
    "data/published",
    "data/archive",
)
WITHOUT_TORCH = """
from importlib.machinery import PathFinder
find, packages = PathFinder.find_spec, PathFinder.find_distributions
PathFinder.find_spec = lambda name, *where: None if name == "torch" else find(name, *where)
PathFinder.find_distributions = lambda of: () if of.name == "torch" else packages(of)
"""


class Server:
    """Snakemake with its imports done; see snakemake_server.py."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("snakemake_server.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        # Of one thread, as it is forked: NumPy's and Arrow's libraries would start more.
        threads = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
        alone = os.environ | threads
        self.process = subprocess.Popen([sys.executable, str(script)], env=alone, **pipes)
        atexit.register(self.process.stdin.close)

    def run(self, command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            out, err = (Path(folder) / name for name in ("out", "err"))
            request = {"args": command[3:], "cwd": str(cwd), "environment": dict(os.environ)}
            line = json.dumps(request | {"out": str(out), "err": str(err)})
            print(line, file=self.process.stdin, flush=True)
            code = int(self.process.stdout.readline())
            return subprocess.CompletedProcess(command, code, out.read_text(), err.read_text())


@cache
def server(kind: str) -> Server:
    """One for plans and one for runs: hashes of texts differ between them, as between any two
    starts of Python, and a plan may not depend on that."""
    return Server()


@dataclass(frozen=True)
class Plan:
    """What a dry run said."""

    text: str

    @property
    def jobs(self) -> dict[str, int]:
        """Jobs that it would do, by rule (without `all`)."""
        if "Nothing to be done" in self.text:
            return {}
        table = re.search(r"job +count\n-+ +-+\n(.*?)\ntotal ", self.text, re.S)
        rows = (line.split() for line in table.group(1).splitlines())
        return {rule: int(count) for rule, count in rows if rule != "all"}

    @property
    def outputs(self) -> set[str]:
        """Files that it would make."""
        listed = re.findall(r"^    output: (.*)$", self.text, re.M)
        return {path for line in listed for path in line.split(", ")}


@dataclass(frozen=True)
class Project:
    """A copy of the workflow's sources in a folder of its own."""

    path: Path

    def snakemake(
        self, *args: str, check: bool = True, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "snakemake", *args]
        # Python reads PYTHONPATH when it starts; elsewhere a fork may not use what it has imported.
        if os.environ.get("PYTHONPATH") != PYTHONPATH or sys.platform != "linux":
            done = subprocess.run(command, cwd=cwd or self.path, capture_output=True, text=True)
        else:
            kind = "plan" if {"--dry-run", "-n"} & {*args} else "run"
            done = server(kind).run(command, cwd or self.path)
        if check and done.returncode:
            raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
        return done

    def plan(self, *args: str, cwd: Path | None = None) -> Plan:
        done = self.snakemake("--dry-run", *args, cwd=cwd)
        return Plan(done.stdout + done.stderr)

    def planned(self, *args: str, cwd: Path | None = None) -> dict[str, int]:
        return self.plan(*args, cwd=cwd).jobs

    @property
    def config(self) -> dict:
        return yaml.safe_load((self.path / "config/config.yaml").read_text())

    def write_config(self, config: dict) -> None:
        (self.path / "config/config.yaml").write_text(yaml.safe_dump(config))

    def edit(self, name: str) -> None:
        """Append a comment to a source file: its content changes, its meaning does not."""
        source = self.path / name
        source.write_text(source.read_text() + "\n# edited\n")


def copy_sources(target: Path) -> Project:
    target.mkdir()
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target / name)
    return Project(target)


def tiny_config() -> dict:
    """The project's config cut down to one small setting of each kind and the smoke protocol."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    base = {"d": 2, "weights": [0.3, 0.7], "means": [1, -0.5], "covs": [1, 2], "n": [1, 4]}
    config["protocol"] = "smoke"
    config["settings"] = {
        "one": base | {"models": ["attention", "reduced"]},
        "two": base | {"noise_var": 1, "layers": [2], "arms": ["plain", "joint"]},
    }
    config["figures"] = {
        "both": {"kind": "page", "panels": ["one", "two"]},
        "over": {"kind": "overview", "setting": "one"},
    }
    return config


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh project with the tiny config, nothing made yet."""
    made = copy_sources(tmp_path / "fresh")
    made.write_config(tiny_config())
    return made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow ones first, of them the longest, so that no core is idle in the end."""
    items.sort(
        key=lambda item: (
            item.get_closest_marker("slow") is None,
            item.path.stem != "test_smoke",
        )
    )


def made_once(
    factory: pytest.TempPathFactory,
    name: str,
    make: Callable[[Project], object],
    start: Callable[[Path], Project] = copy_sources,
) -> Project:
    """A project that all workers share, and only one of them makes: tests read it, or take a
    copy."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(shared / f"{name}.lock"):
        if not (shared / f"{name}.done").exists():
            shutil.rmtree(shared / name, ignore_errors=True)  # of an attempt that failed
            make(start(shared / name))
            (shared / f"{name}.done").touch()
    return Project(shared / name)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny project with everything made; tests take copies of it."""

    def make(project: Project) -> None:
        project.write_config(tiny_config())
        project.snakemake()

    return made_once(tmp_path_factory, "finished", make).path


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Project:
    """A copy of the finished project, times and Snakemake's records included."""
    return copy(finished, tmp_path / "project")


def copy(made: Path, target: Path) -> Project:
    shutil.copytree(made, target, symlinks=True)
    return Project(target)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The shipped config, drawn from the archive, without torch, which `make gallery` does not
    install."""

    def make(project: Project) -> None:
        (project.path / "sitecustomize.py").write_text(WITHOUT_TORCH)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(project.path))
            project.snakemake("--config", "results=archive", "--", "all", "docs/gallery.md")

    return made_once(tmp_path_factory, "gallery", make)
