"""Runs that are killed, damaged, diverged or started twice."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from .conftest import Project, copy, made_once, tiny_config

RUN = "data/smoke/runs/one/n4/seeds0-1.parquet"
ENVIRONMENT = os.environ | {"CHECKPOINT_SECONDS": "0.1", "OMP_NUM_THREADS": "1"}


def long_training(project: Project, iterations: int) -> None:
    config = project.config
    config["protocols"]["smoke"]["one_layer"]["iterations"] = iterations
    project.write_config(config)


def train_command(project: Project) -> list[str]:
    """What the workflow would run to make RUN."""
    project.snakemake("data/specs/one.json")
    printed = project.snakemake("--dry-run", "--printshellcmds", RUN).stdout
    line = next(line for line in printed.splitlines() if "/train.py" in line)
    command = line[line.index("python ") :].removeprefix("python ").split(" 2>")[0]
    return ["bash", "-c", f"exec {sys.executable} {command}"]


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with the command that makes RUN, and what it makes if nothing kills it."""

    def make(project: Project) -> None:
        project.write_config(tiny_config())
        long_training(project, 2000)
        command = train_command(project)
        subprocess.run(command, cwd=project.path, env=ENVIRONMENT, check=True, stderr=-3)
        (project.path / "command").write_text(json.dumps(command))

    return made_once(tmp_path_factory, "kills", make)


@pytest.mark.slow
@pytest.mark.parametrize("chain", range(5))
def test_four_random_kills_then_the_same_bytes(
    uninterrupted: Project, tmp_path: Path, chain: int
) -> None:
    """A job killed at random moments, again and again, ends as an uninterrupted one."""
    project = copy(uninterrupted.path, tmp_path / "project")
    command = json.loads((project.path / "command").read_text())
    expected = (project.path / RUN).read_bytes()
    (project.path / RUN).unlink()
    moments = random.Random(f"{os.getpid()}/{chain}")
    for _ in range(4):
        process = subprocess.Popen(command, cwd=project.path, env=ENVIRONMENT, stderr=-3)
        time.sleep(moments.uniform(0, 3))
        process.send_signal(moments.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait()
    subprocess.run(command, cwd=project.path, env=ENVIRONMENT, check=True, stderr=-3)
    assert not list(project.path.rglob("*.checkpoint"))
    assert (project.path / RUN).read_bytes() == expected


def test_truncated_run_is_named_with_its_remedy(done: Project) -> None:
    run = done.path / RUN
    run.write_bytes(run.read_bytes()[:200])
    (done.path / "data/smoke/risks/one.parquet").unlink()
    failed = done.snakemake("figures/one.pdf", check=False)
    assert failed.returncode != 0
    assert f"{RUN}: not a readable Parquet file" in failed.stderr
    assert f"rm {RUN}, then the same command again" in failed.stderr
    run.unlink()
    done.snakemake("figures/one.pdf")


def test_all_seeds_diverged_is_a_gap_with_a_note(project: Project) -> None:
    config = project.config
    config["protocols"]["smoke"]["one_layer"]["lr"] = 1.0e200
    project.write_config(config)
    project.snakemake("figures/one.pdf")
    risks = pd.read_parquet(project.path / "data/smoke/risks/one.parquet")
    assert (risks.seeds_ok == 0).all()
    assert (risks.seeds_total == 2).all()
    assert risks.risk.isna().all()
    assert set(pd.read_parquet(project.path / RUN).status) == {"diverged"}


def test_two_snakemakes_at_once(project: Project) -> None:
    """The second one is refused by Snakemake's lock; the first one finishes."""
    long_training(project, 4000)
    command = [sys.executable, "-m", "snakemake", "figures/one.pdf"]
    first = subprocess.Popen(command, cwd=project.path, stdout=-3, stderr=-3)
    locks = project.path / ".snakemake/locks"
    while not (locks.exists() and any(locks.iterdir())):
        assert first.poll() is None
        time.sleep(0.05)
    second = project.snakemake("figures/one.pdf", check=False)
    assert second.returncode != 0
    assert "LockException" in second.stderr
    assert first.wait() == 0
    assert (project.path / "figures/one.pdf").exists()


def test_interrupt_then_rerun(project: Project) -> None:
    """Ctrl-C in the middle of training; the rerun makes what is missing."""
    long_training(project, 40000)
    command = [sys.executable, "-m", "snakemake", RUN]
    process = subprocess.Popen(
        command,
        cwd=project.path,
        env=os.environ | {"CHECKPOINT_SECONDS": "0.1"},
        stdout=-3,
        stderr=-3,
        start_new_session=True,
        # a test run in a shell's background inherits a SIGINT that is ignored
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    while not list(project.path.rglob("*.checkpoint")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() != 0
    assert not (project.path / RUN).exists()
    project.snakemake(RUN)
    assert (project.path / RUN).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_full_disk(project: Project, tmp_path: Path) -> None:
    """Nothing half-written is left, and the rerun with space succeeds."""
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(small)], check=True)
    try:
        command = train_command(project)
        target = small / "run.parquet"
        full = [part.replace(RUN, str(target)) for part in command]
        failed = subprocess.run(full, cwd=project.path, capture_output=True, text=True)
        assert failed.returncode != 0
        assert "No space left" in failed.stderr
        assert not target.exists()
        assert not [path for path in small.iterdir() if path.stat().st_size]
    finally:
        subprocess.run(["umount", str(small)], check=True)
    shutil.rmtree(small)
    project.snakemake(RUN)
