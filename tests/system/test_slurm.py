"""Training as SLURM jobs, by the profile as it is: the same bytes, whatever happens on the way."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from workflow.conftest import Project

from .cluster import Cluster, wait_for
from .conftest import FIGURE, LONG

PROFILE = [
    "--workflow-profile=profiles/slurm",
    "--slurm-status-command=squeue",  # the cluster has no accounting
    "--slurm-init-seconds-before-status-checks=1",
]


@contextmanager
def started(project: Project, *args: str) -> Iterator[subprocess.Popen]:
    """Snakemake in the background; what it says goes to the project's snakemake.log."""
    command = [sys.executable, "-m", "snakemake", *PROFILE, *args]
    with (project.path / "snakemake.log").open("w") as out:
        running = subprocess.Popen(command, cwd=project.path, stdout=out, stderr=out)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()


def succeeded(project: Project, running: subprocess.Popen) -> bool:
    running.wait(timeout=600)
    print((project.path / "snakemake.log").read_text())  # pytest shows it with a failure
    return running.returncode == 0


def same_bytes(project: Project, local: Project, *names: str) -> None:
    for name in names:
        assert (project.path / name).read_bytes() == (local.path / name).read_bytes(), name


def freeze_training(project: Project) -> None:
    """Stop the training where it is, so that it cannot end before what is to happen to it. SLURM
    wakes it to end it; its own stop signal would leave the job in a state that outlives it."""
    for process in psutil.process_iter(["cmdline", "cwd"]):
        command, folder = process.info["cmdline"] or [], process.info["cwd"]
        if folder == str(project.path) and command[1:2] == ["scripts/train.py"]:
            process.suspend()


def interrupted_job(cluster: Cluster, project: Project, before: set[str]) -> str:
    """The one job that trains LONG, frozen after it has written a checkpoint."""
    wait_for("a checkpoint", (project.path / LONG).with_suffix(".checkpoint").exists)
    freeze_training(project)
    (job,) = cluster.jobs().keys() - before
    assert not (project.path / LONG).exists()
    return job


def resumed(project: Project) -> bool:
    log = Path(project.path / "logs/long/train/one/n1/seeds0-1.log").read_text()
    return "going on from iteration" in log


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKPOINT_SECONDS", "0.5")


def test_same_figure_as_without_a_cluster(
    cluster: Cluster, project: Project, local: Project
) -> None:
    before = cluster.jobs().keys()
    with started(project, "--", *FIGURE) as running:
        assert succeeded(project, running)
    states = [state for job, state in cluster.jobs().items() if job not in before]
    assert states == ["COMPLETED"] * 2  # one per n; everything else stays in the main process
    runs = [f"data/smoke/runs/one/n{n}/seeds0-1.parquet" for n in (1, 4)]
    same_bytes(project, local, *FIGURE, *runs, "data/smoke/risks/one.parquet")


def test_cancelled_job_goes_on_in_the_next_run(
    cluster: Cluster, project: Project, local: Project
) -> None:
    before = set(cluster.jobs())
    with started(project, "--retries=0", "--", LONG) as running:
        job = interrupted_job(cluster, project, before)
        subprocess.run(["scancel", job], check=True)
        assert not succeeded(project, running)
    assert cluster.jobs()[job] == "CANCELLED"
    assert not resumed(project)
    with started(project, "--", LONG) as running:
        assert succeeded(project, running)
    assert resumed(project)
    same_bytes(project, local, LONG)


def test_job_out_of_time_goes_on_in_its_next_attempt(
    cluster: Cluster, project: Project, local: Project
) -> None:
    before = set(cluster.jobs())
    with started(project, "--", LONG) as running:
        job = interrupted_job(cluster, project, before)
        assert cluster.time_limit(job) == "30:00"
        subprocess.run(["scontrol", "update", f"jobid={job}", "timelimit=1"], check=True)
        assert succeeded(project, running)
    (second,) = cluster.jobs().keys() - before - {job}
    assert (cluster.jobs()[job], cluster.jobs()[second]) == ("TIMEOUT", "COMPLETED")
    assert cluster.time_limit(second) == "1:00:00"
    assert resumed(project)
    same_bytes(project, local, LONG)


def test_jobs_wait_for_a_drained_node(cluster: Cluster, project: Project, local: Project) -> None:
    target = "data/smoke/runs/one/n1/seeds0-1.parquet"
    before = set(cluster.jobs())
    cluster.set_node("drain")
    try:
        wait_for("the drained state", lambda: cluster.node_state() == "drained")
        with started(project, "--", target) as running:
            (job,) = wait_for("a job", lambda: cluster.jobs().keys() - before)
            assert cluster.jobs()[job] == "PENDING"
            cluster.set_node("resume")
            assert succeeded(project, running)
    finally:
        if cluster.node_state() == "drained":
            cluster.set_node("resume")
    assert cluster.jobs()[job] == "COMPLETED"
    same_bytes(project, local, target)
