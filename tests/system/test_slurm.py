"""Training as SLURM jobs, by the profile as it is: the same bytes, whatever happens on the way."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from workflow.conftest import Project

from .cluster import Cluster, wait_for
from .conftest import FIGURE, LONG, new_project

PROFILE = [
    "--workflow-profile=profiles/slurm",
    "--slurm-status-command=squeue",  # the cluster has no accounting
    # Looks after 3 s, 13 s more, 23 s more …; a job here takes 10 to 15.
    "--slurm-init-seconds-before-status-checks=3",
]
RUNS = [f"data/smoke/runs/one/n{n}/seeds0-1.parquet" for n in (1, 4)]


@contextmanager
def started(project: Project, *args: str) -> Iterator[subprocess.Popen]:
    """Snakemake in the background; what it says goes to the project's snakemake.log."""
    command = [sys.executable, "-m", "snakemake", *PROFILE, *args]
    environment = os.environ | {"CHECKPOINT_SECONDS": "0.5"}
    with (project.path / "snakemake.log").open("w") as out:
        running = subprocess.Popen(
            command, cwd=project.path, env=environment, stdout=out, stderr=out
        )
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
        if folder == str(project.path) and command[1:2] == [f"{project.path}/scripts/train.py"]:
            process.suspend()


def interrupted_job(cluster: Cluster, project: Project) -> str:
    """The one job that trains LONG, frozen after it has written a checkpoint."""
    wait_for("a checkpoint", (project.path / LONG).with_suffix(".checkpoint").exists)
    freeze_training(project)
    (job,) = cluster.jobs(project.path)
    assert not (project.path / LONG).exists()
    return job


def use_lines(project: Project, beginnings: str) -> None:
    """Of the profile, three that are commented out."""
    profile = project.path / "profiles/slurm/config.yaml"
    text, changed = re.subn(f"^# (?={beginnings})", "", profile.read_text(), flags=re.M)
    assert changed == 3
    profile.write_text(text)


def resumed(project: Project) -> bool:
    log = Path(project.path / "logs/long/train/one/n1/seeds0-1.log").read_text()
    return "going on from iteration" in log


@dataclass(frozen=True)
class Expiring:
    """A training job that is about to reach its time limit, and the Snakemake that waits for it."""

    project: Project
    running: subprocess.Popen
    job: str


@pytest.fixture(scope="module", autouse=True)
def expiring(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Expiring]:
    """Started before the other scenarios and looked at after them: SLURM counts time limits in
    minutes, which need not be spent waiting."""
    project = new_project(tmp_path_factory.mktemp("expiring") / "project")
    with started(project, "--", LONG) as running:
        job = interrupted_job(cluster, project)
        assert cluster.time_limit(job) == "30:00"
        subprocess.run(["scontrol", "update", f"jobid={job}", "timelimit=1"], check=True)
        yield Expiring(project, running, job)


def test_same_figure_as_without_a_cluster(
    cluster: Cluster, project: Project, local: Project
) -> None:
    with started(project, "--", *FIGURE) as running:
        assert succeeded(project, running)
    # one per n; everything else stays in the main process
    assert list(cluster.jobs(project.path).values()) == ["COMPLETED"] * 2
    same_bytes(project, local, *FIGURE, *RUNS, "data/smoke/risks/one.parquet")


def test_cancelled_job_goes_on_in_the_next_run(
    cluster: Cluster, project: Project, local: Project
) -> None:
    with started(project, "--retries=0", "--", LONG) as running:
        job = interrupted_job(cluster, project)
        subprocess.run(["scancel", job], check=True)
        assert not succeeded(project, running)
    assert cluster.jobs(project.path)[job] == "CANCELLED"
    assert not resumed(project)
    with started(project, "--", LONG) as running:
        assert succeeded(project, running)
    assert resumed(project)
    same_bytes(project, local, LONG)


def test_light_rules_as_grouped_jobs(cluster: Cluster, project: Project, local: Project) -> None:
    """The lines that the profile has for it, no longer commented out."""
    use_lines(project, r"groups: \[spec=|group-components: \[before=|cores: 2 ")
    with started(project, "--", *FIGURE, "data/theory/two.parquet") as running:
        assert succeeded(project, running)
    assert "localrule" not in (project.path / "snakemake.log").read_text()
    # specs and theory of both settings, one per n, the aggregate and the figure
    assert list(cluster.jobs(project.path).values()) == ["COMPLETED"] * 4
    same_bytes(project, local, *FIGURE, *RUNS, "data/smoke/risks/one.parquet")


def test_short_trainings_as_one_job(cluster: Cluster, project: Project, local: Project) -> None:
    """One after another: the job asks for one core, the time of all and the memory of one."""
    use_lines(project, r"groups: \[train=|group-components: \[short=|cores: 1 ")
    with started(project, "--", *RUNS) as running:
        assert succeeded(project, running)
    (job,) = cluster.jobs(project.path)
    assert cluster.jobs(project.path)[job] == "COMPLETED"
    assert cluster.time_limit(job) == "1:00:00"
    same_bytes(project, local, *RUNS)


def test_jobs_wait_for_a_drained_node(cluster: Cluster, project: Project, local: Project) -> None:
    cluster.set_node("drain")
    try:
        wait_for("the drained state", lambda: cluster.node_state() == "drained")
        with started(project, "--", RUNS[0]) as running:
            (job,) = wait_for("a job", lambda: cluster.jobs(project.path))
            assert cluster.jobs(project.path)[job] == "PENDING"
            cluster.set_node("resume")
            assert succeeded(project, running)
    finally:
        if cluster.node_state() in ("draining", "drained"):
            cluster.set_node("resume")
    assert cluster.jobs(project.path)[job] == "COMPLETED"
    same_bytes(project, local, RUNS[0])


def test_job_out_of_time_goes_on_in_its_next_attempt(
    cluster: Cluster, expiring: Expiring, local: Project
) -> None:
    project = expiring.project
    assert succeeded(project, expiring.running)
    jobs = cluster.jobs(project.path)
    assert list(jobs.values()) == ["TIMEOUT", "COMPLETED"]
    first, second = jobs
    assert first == expiring.job
    assert cluster.time_limit(second) == "1:00:00"
    assert resumed(project)
    same_bytes(project, local, LONG)
