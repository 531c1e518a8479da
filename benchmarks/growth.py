"""How the workflow grows: DAG, scheduler and aggregate at multiples of the paper's training jobs.

    python benchmarks/growth.py [--factors 1 10 100] [--jobs 5000]

Prints JSON. Works on a copy of the sources in a scratch folder, where a training job only copies
a file that was made before: what is measured is the workflow. CPU seconds are those of a process
and its children, memory that of the largest of them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from configs import SHIPPED, read  # noqa: E402
from decoupling import models  # noqa: E402
from decoupling.plan import jobs  # noqa: E402
from decoupling.tables import PARAMETERS, RUNS, write_table  # noqa: E402
from workflow.conftest import Project, copy_sources  # noqa: E402

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores=2"]
COPY = """import shutil, sys
for path in (sys.argv[-3], sys.argv[-1]):
    shutil.copy('made/' + path, path)
"""
RECIPES = {model.recipe for model in models.modules().values()}
PAPER = [name for name in SHIPPED["settings"] if name.startswith("fig")]


def grown(seeds: int) -> dict[str, object]:
    """The project's config, with a training job per setting, n and seed."""
    recipe = {"batch_size": 1, "iterations": 1, "lr": 0.001}
    protocol = {"seeds": seeds, "seeds_per_job": 1} | dict.fromkeys(RECIPES, recipe)
    return SHIPPED | {"protocol": "grow", "protocols": {"grow": protocol}}


def new_project(folder: Path, seeds: int) -> Project:
    project = copy_sources(folder)
    project.write_config(grown(seeds))
    (project.path / "scripts/train.py").write_text(COPY)
    return project


def make_runs(project: Project, setting: str, under: Path) -> list[list[str]]:
    """What a setting's training makes, and the names: of runs, and of parameters."""
    config = read(project.config)
    names = [jobs.run_files(config, what, "grow", setting) for what in ("runs", "parameters")]
    for runs, parameters in zip(*names, strict=True):
        *_, n, seeds = Path(runs).with_suffix("").parts
        point = {"n": int(n.removeprefix("n")), "seed": int(seeds.rpartition("-")[2])}
        rows = [curve.point | point for curve in config.settings[setting].curves]
        trained = dict(risk=1.0, risk_se=0.0, iterations=1, status="ok")
        trained |= dict(selection_risk=1.0, tail_share=None, descent_left=0.0)
        write_table(under / runs, [row | trained for row in rows], RUNS)
        values = dict(name="query", shape=[1], values=[0.0])
        write_table(under / parameters, [row | values for row in rows], PARAMETERS)
    return names


def measure(project: Project, *command: str, stdin: str = "") -> dict[str, float]:
    """Time and memory of a command; and of Snakemake's, how much went into building the DAG."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=project.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    process.stdin.write(stdin)
    process.stdin.close()
    child, marks = psutil.Process(process.pid), []
    for line in process.stdout:
        if line.startswith(("Building DAG", "Job stats", "Nothing to be done")):
            marks.append((time.perf_counter(), sum(child.cpu_times()[:2])))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    times = {
        "wall_s": time.perf_counter() - started,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
    }
    if marks:
        begun, built = marks[:2]
        times |= {"dag_wall_s": built[0] - begun[0], "dag_cpu_s": built[1] - begun[1]}
    return {name: float(f"{value:.3g}") for name, value in times.items()}


def workflow(folder: Path, seeds: int, settings: list[str]) -> dict[str, object]:
    """Dry run, run and dry run again of the settings' training and aggregates."""
    project = new_project(folder, seeds)
    files = [make_runs(project, setting, project.path / "made") for setting in settings]
    targets = ["--", *(f"data/grow/risks/{setting}.parquet" for setting in settings)]
    return {
        "training_jobs": sum(len(runs) for runs, _ in files),
        "dry_run": measure(project, *SNAKEMAKE, "--dry-run", *targets),
        "run": measure(project, *SNAKEMAKE, *targets),
        "nothing_to_do": measure(project, *SNAKEMAKE, "--dry-run", *targets),
    }


def whole_dag(folder: Path, training_jobs: int) -> dict[str, object]:
    """Dry run of everything, figures too."""
    config = read(grown(seeds=1))
    alone = sum(len(jobs.run_files(config, "runs", "grow", name)) for name in config.settings)
    project = new_project(folder, math.ceil(training_jobs / alone))
    return measure(project, *SNAKEMAKE, "--dry-run")


def aggregate(folder: Path, files: int, setting: str = "fig2c") -> dict[str, object]:
    project = new_project(folder, math.ceil(files / len(SHIPPED["settings"][setting]["n"])))
    names = make_runs(project, setting, project.path)
    project.snakemake("--", f"data/specs/{setting}.json")
    command = f"scripts/aggregate.py --spec data/specs/{setting}.json"
    command += " --risks risks.parquet --parameters parameters.parquet"
    return measure(
        project, sys.executable, *command.split(), stdin="\n\n".join(map("\n".join, names))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factors", type=int, nargs="*", default=[1, 10, 100])
    help_text = "training jobs of everything, and run files of one setting"
    parser.add_argument("--jobs", type=int, default=5000, help=help_text)
    parser.add_argument("--settings", nargs="+", choices=PAPER, default=PAPER, metavar="SETTING")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        report = {
            "load": os.getloadavg()[0],
            f"DAG of {args.jobs} training jobs": whole_dag(scratch / "dag", args.jobs),
            f"aggregate of {args.jobs} run files": aggregate(scratch / "aggregate", args.jobs),
        }
        for factor in args.factors:
            report[f"{factor} times the paper"] = workflow(
                scratch / str(factor), factor, args.settings
            )
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
