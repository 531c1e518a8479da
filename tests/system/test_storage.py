"""Results in an S3 store instead of a shared file system."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from workflow.conftest import Project, copy_sources

from . import store
from .cluster import wait_for
from .conftest import LONG, new_project, require

FIGURE = "figures/fig2b.pdf"


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Store]:
    folder = tmp_path_factory.mktemp("packages")
    require("S3 store", lambda: store.install(folder))
    running = store.Store(folder)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def started(s3: store.Store, project: Project, *args: str) -> subprocess.Popen:
    """Snakemake, in a clone that shares nothing but the store; what it says goes to
    snakemake.log."""
    command = [sys.executable, "-m", "snakemake", "--cores=2", *store.OPTIONS, *args]
    out = (project.path / "snakemake.log").open("w")
    return subprocess.Popen(
        command, cwd=project.path, env=s3.environment, stdout=out, stderr=subprocess.STDOUT
    )


def finished(s3: store.Store, project: Project, *args: str) -> str:
    running = started(s3, project, *args)
    running.wait(timeout=600)
    said = (project.path / "snakemake.log").read_text()
    assert running.returncode == 0, said
    return said


def test_another_clone_has_nothing_to_do(s3: store.Store, tmp_path: Path) -> None:
    first, second = (copy_sources(tmp_path / name) for name in ("first", "second"))
    target = ["--config", "protocol=smoke", "--", FIGURE]
    assert "Nothing to be done" not in finished(s3, first, *target)
    assert not (first.path / FIGURE).exists()  # but in the store
    assert "Nothing to be done" in finished(s3, second, *target)


def test_a_killed_job_goes_on_where_its_checkpoint_is(s3: store.Store, tmp_path: Path) -> None:
    """In the same folder; checkpoints are not in the store."""
    project = new_project(tmp_path / "project")
    running = started(s3, project, "--", LONG)
    here = project.path / f".snakemake/storage/s3/{store.BUCKET}" / LONG
    wait_for("a checkpoint", here.with_suffix(".checkpoint").exists)
    script = f"{project.path}/scripts/train.py"
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[1:2] == [script]:
            process.kill()
    assert running.wait(timeout=600) != 0
    assert here.with_suffix(".checkpoint").exists()
    finished(s3, project, "--", LONG)
    assert not here.with_suffix(".checkpoint").exists()
    assert "going on from iteration" in s3.text("logs/long/train/one/n1/seeds0-1.log")
