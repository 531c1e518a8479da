"""A clone of the project to run Snakemake in, and what its dry runs plan."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

ROOT = Path(__file__).parents[2]
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".kernels"))  # compiled once for all projects
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
        done = subprocess.run(command, cwd=cwd or self.path, capture_output=True, text=True)
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


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny project with everything made; tests take copies of it, and workers share it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(shared / "finished.lock"):
        if not (shared / "finished/done").exists():
            made = copy_sources(shared / "finished")
            made.write_config(tiny_config())
            made.snakemake()
            (shared / "finished/done").touch()
    return shared / "finished"


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Project:
    """A copy of the finished project, times and Snakemake's records included."""
    shutil.copytree(finished, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
