"""What the profiles and their README say of the workflow, and what a GPU protocol asks for."""

import re
from pathlib import Path

from configs import read
from decoupling.plan import jobs

from .conftest import ROOT, Project, copy_sources

ALL = "all of it"

COUNTS = dict(
    re.findall(r"^\| `?([\w ]+)`? \| (\d+) \|", (ROOT / "profiles/README.md").read_text(), re.M)
)


def test_number_of_training_jobs(tmp_path: Path) -> None:
    project = copy_sources(tmp_path / "project")
    outputs = [path.split("/") for path in project.plan().outputs]
    trained = [path[3] for path in outputs if path[2:3] == ["runs"]]
    config = read(project.config)
    for figure, count in COUNTS.items():
        drawn = set(trained)
        if figure != ALL:
            drawn = {curve.setting for curve in config.figures[figure].curves(config)}
            drawn |= {fold for name in drawn for fold in config.settings[name].folds}
        assert sum(setting in drawn for setting in trained) == int(count), figure


def test_every_light_rule_can_be_grouped() -> None:
    sources = [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]
    rules = [
        found
        for source in sources
        for found in re.findall(
            r"^rule (\w+):\n(.*?)(?=^rule |\Z)", source.read_text(), re.M | re.S
        )
    ]
    light = {name for name, body in rules if "localrule: True" in body}
    profile = (ROOT / "profiles/slurm/config.yaml").read_text()
    groups = re.search(r"^# groups: \[(spec.*)\]$", profile, re.M)
    assert light == {"all", *re.findall(r"(\w+)=", groups[1])}


def test_large_theory_is_no_light_rule(project: Project) -> None:
    """It is submitted, and asks for its time and memory."""
    config = project.config
    config["settings"]["big"] = config["settings"]["one"] | {
        "d": 100,
        "means": [1, 1],
        "n": [9, 99],
    }
    project.write_config(config)
    names = [f"data/{table}/{name}.parquet" for table in jobs.COMPUTED for name in ("one", "big")]
    planned = project.planned(*names)
    assert planned == {"spec": 2, "theory": 2, "bayes": 1, "bayes_large": 1}
    jobs_planned = project.snakemake("--dry-run", *names).stdout.split("\n[")
    (large,) = [job for job in jobs_planned if "rule bayes_large:" in job]
    assert "runtime=" in large
    assert "mem_mb=1" in large


def test_gpu_is_asked_for_by_deeper_training_on_cuda_alone(project: Project) -> None:
    config = project.config
    config["protocols"]["gpu"] = config["protocols"]["smoke"] | {"device": "cuda"}
    project.write_config(config)
    targets = [
        f"data/{protocol}/risks/{setting}.parquet"
        for protocol in ("gpu", "smoke")
        for setting in ("one", "two")
    ]
    jobs = project.snakemake("--dry-run", *targets).stdout.split("\n[")  # each begins with the time
    asking = [job for job in jobs if "gpu=1" in job]
    assert len(asking) == 2  # one per n
    assert all("rule train:" in job and "protocol=gpu, setting=two" in job for job in asking)
    assert not any("gpu=0" in job for job in jobs)
