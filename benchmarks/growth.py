"""How the workflow grows: DAG, scheduler and aggregate at multiples of the paper's training jobs.

    python benchmarks/growth.py [--factors 1 10 100]

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

import pandas as pd
import psutil
import yaml

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from decoupling.config.settings import Setting  # noqa: E402
from decoupling.tables import RUNS, write_table  # noqa: E402
from workflow.conftest import Project, copy_sources  # noqa: E402

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores=2"]
COPY = "import shutil, sys\nshutil.copy('made/' + sys.argv[-1], sys.argv[-1])\n"
RECIPES = {
    "one_layer": {"batch_size": "exact", "iterations": 1, "lr": 0.001},
    "deep": {"batch_size": 1, "iterations": 1, "lr": 0.001},
}
SETTINGS = yaml.safe_load((ROOT / "config/config.yaml").read_text())["settings"]
MANY = 5000  # training jobs in a DAG, and run files of one setting


def new_project(folder: Path, seeds: int) -> Project:
    """The project's settings, with a training job per setting, n and seed."""
    project = copy_sources(folder)
    protocol = {"seeds": seeds, "seeds_per_job": 1} | RECIPES
    project.write_config(project.config | {"protocol": "grow", "protocols": {"grow": protocol}})
    (project.path / "scripts/train.py").write_text(COPY)
    return project


def make_runs(project: Project, setting: str, under: Path) -> list[str]:
    """A setting's run files, and their names."""
    block = project.config["settings"][setting]
    trained = [(c.model, c.layers, c.arm) for c in Setting.read(setting, block).curves]
    curves = pd.DataFrame(trained, columns=["model", "layers", "arm"]).assign(
        setting=setting, iterations=1, status="ok"
    )
    names = []
    for n in SETTINGS[setting]["n"]:
        for seed in range(project.config["protocols"]["grow"]["seeds"]):
            rows = curves.assign(n=n, seed=seed, risk=1.0, risk_se=0.0, selection_risk=1.0)
            names.append(f"data/grow/runs/{setting}/n{n}/seeds{seed}-{seed}.parquet")
            write_table(under / names[-1], rows.to_dict("records"), RUNS)
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


def workflow(folder: Path, seeds: int) -> dict[str, object]:
    """Dry run, run and dry run again of every setting's training and aggregate."""
    project = new_project(folder, seeds)
    files = [make_runs(project, setting, project.path / "made") for setting in SETTINGS]
    targets = ["--", *(f"data/grow/risks/{setting}.parquet" for setting in SETTINGS)]
    return {
        "training_jobs": sum(map(len, files)),
        "dry_run": measure(project, *SNAKEMAKE, "--dry-run", *targets),
        "run": measure(project, *SNAKEMAKE, *targets),
        "nothing_to_do": measure(project, *SNAKEMAKE, "--dry-run", *targets),
    }


def whole_dag(folder: Path) -> dict[str, object]:
    """Dry run of everything, figures too."""
    seeds = math.ceil(MANY / sum(len(block["n"]) for block in SETTINGS.values()))
    return measure(new_project(folder, seeds), *SNAKEMAKE, "--dry-run")


def aggregate(folder: Path, setting: str = "fig2c") -> dict[str, object]:
    project = new_project(folder, math.ceil(MANY / len(SETTINGS[setting]["n"])))
    names = make_runs(project, setting, project.path)
    project.snakemake("--", f"data/specs/{setting}.json")
    command = f"scripts/aggregate.py --spec data/specs/{setting}.json --output risks.parquet"
    return measure(project, sys.executable, *command.split(), stdin="\n".join(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factors", type=int, nargs="*", default=[1, 10, 100])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        report = {
            "load": os.getloadavg()[0],
            f"DAG of {MANY} training jobs": whole_dag(scratch / "dag"),
            f"aggregate of {MANY} run files": aggregate(scratch / "aggregate"),
        }
        for factor in args.factors:
            report[f"{factor} times the paper"] = workflow(scratch / str(factor), factor)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
