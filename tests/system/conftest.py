"""What the tests run against: a SLURM cluster with a project to compare with, and a browser."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from workflow.conftest import Project, copy_sources, tiny_config

from . import browser as browsers
from .cluster import Cluster, install
from .packages import UnavailableError, install_packages

LONG = "data/long/runs/one/n1/seeds0-1.parquet"  # trained for long enough to be interrupted
FIGURE = ["figures/one.pdf", "figures/one.png"]


def require(what: str, install: Callable[[], None]) -> None:
    """Install it, or skip the test; where system tests are required, fail it."""
    try:
        install()
    except UnavailableError as reason:
        give_up = pytest.fail if os.environ.get("REQUIRE_SYSTEM_TESTS") == "1" else pytest.skip
        give_up(f"no {what} here: {reason}")


@pytest.fixture(scope="session")
def browser() -> Iterator[browsers.Browser]:
    require("Chromium", lambda: install_packages(browsers.PACKAGES, browsers.PROGRAMS))
    with browsers.chromium() as session:
        yield session


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    require("SLURM", install)
    # Not pytest's own folder: munged wants a socket that all users could reach.
    scratch = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    scratch.chmod(0o755)
    running = Cluster(scratch)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(scratch)


def new_project(path: Path) -> Project:
    """The tiny config, and a protocol `long` of many iterations."""
    project = copy_sources(path)
    config = tiny_config()
    smoke = config["protocols"]["smoke"]
    longer = {"one_layer": smoke["one_layer"] | {"iterations": 5_000}}
    config["protocols"]["long"] = smoke | longer
    project.write_config(config)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "project")


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """What every scenario makes, made without a cluster."""
    made = new_project(tmp_path_factory.mktemp("local") / "project")
    made.snakemake("--cores=2", "--", *FIGURE, LONG)
    return made
