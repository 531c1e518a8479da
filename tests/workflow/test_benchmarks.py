"""Every script in benchmarks/ runs, at its smallest size, or where kernels of other tests do."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from .conftest import ROOT

LEAST = {  # and the rows that it prints
    "batch_noise --n 1 --share 0": 1,
    "random_mixtures --count 1 --n 2 --seeds 2 --share 0": 5,
    "rounding --n 1 --seeds 2 --share 0": 4,
    "more_training doubling laptop figA2b/1/plain --share 0": 1,
    "more_training regret laptop figA2b/1/plain --share 0": 1,
    "recipe --n 1 --seeds 2 --share 0": 8,
    "recipe --recipe deep --n 1 --seeds 2 --share 0": 13,
    "recipe --recipe softmax_finetune --seeds 2 --share 0": 4,
    "standard_units --dims 2 --n 1 --tasks 2 --seeds 2 --share 0": 2,
    "sizes --values 2 10 --repeats 1 --batch 8": 8,
    "sizes --along tasks --values 2 3 --repeats 1 --batch 8": 8,
    "sizes --along n --values 1 2 --repeats 1 --batch 8": 7,
    "sizes --along seeds --values 1 2 --repeats 1 --batch 8": 8,
    "sizes --along layers --values 2 3 --repeats 1 --batch 8": 1,
}
MEASURED = {
    "growth": "--factors 1 --jobs 1 --settings fig2a",
    "speed": "--repeats 1 --steps 2 --batch 8",
}
HELPERS = {"shorter"}  # which are imported


def run(script: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / f"benchmarks/{script}.py", *args]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.stderr.count("Traceback"), done.stderr
    return done


def test_every_script_is_run_here() -> None:
    run_here = {command.split()[0] for command in LEAST} | {*MEASURED, "same_results"}
    assert {path.stem for path in (ROOT / "benchmarks").glob("*.py")} == run_here | HELPERS


@pytest.mark.parametrize("command", LEAST)
def test_it_prints_its_table(command: str) -> None:
    done = run(*command.split())
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("|"):
        heading, rule, *rows = done.stdout.splitlines()
        assert {line.count("|") for line in (rule, *rows)} == {heading.count("|")}
        assert len(rows) == LEAST[command]
    else:
        assert len(pd.read_csv(io.StringIO(done.stdout))) == LEAST[command]


def test_speed_reports_a_time_of_every_case() -> None:
    report = json.loads(run("speed", *MEASURED["speed"].split()).stdout)
    times = [*report["ms_per_seed_step"].values(), *report["ratios"].values()]
    assert all(time > 0 for time in times)


def test_growth_trains_and_aggregates_a_setting() -> None:
    report = json.loads(run("growth", *MEASURED["growth"].split()).stdout)
    assert report["1 times the paper"]["training_jobs"] == 6
    assert all("dag_cpu_s" in report["1 times the paper"][part] for part in ("dry_run", "run"))


def test_same_results_compares_two_trees(tmp_path: Path) -> None:
    if subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--git-dir"], capture_output=True
    ).returncode:
        pytest.skip("not a clone: there is no commit to compare with")
    done = run("same_results", "HEAD", "data/specs/fig2c.json", "--scratch", str(tmp_path))
    assert "1 files before, 1 after" in done.stdout
