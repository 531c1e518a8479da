"""What the profiles and their README say of the workflow, and what a GPU protocol asks for."""

import re
from pathlib import Path

import pytest

from .conftest import ROOT, Project, copy_sources

COUNTS = dict(
    re.findall(r"^\| `(\w+)` \| (\d+) \|", (ROOT / "profiles/README.md").read_text(), re.M)
)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "figA1", "figA2", "noise"])
def test_number_of_training_jobs(tmp_path: Path, figure: str) -> None:
    project = copy_sources(tmp_path / "project")
    assert project.planned(f"figures/{figure}.pdf")["train"] == int(COUNTS[figure])


def test_every_light_rule_can_be_grouped() -> None:
    local = re.search(r"^localrules:\n(.*?)\n\n", (ROOT / "Snakefile").read_text(), re.M | re.S)
    profile = (ROOT / "profiles/slurm/config.yaml").read_text()
    groups = re.search(r"^# groups: \[(.*)\]$", profile, re.M)
    assert set(re.findall(r"\w+", local[1])) == {"all", *re.findall(r"(\w+)=", groups[1])}


def test_gpu_is_asked_for_by_training_on_cuda_alone(project: Project) -> None:
    config = project.config
    config["protocols"]["gpu"] = config["protocols"]["smoke"] | {"device": "cuda"}
    project.write_config(config)
    targets = [f"data/{protocol}/risks/one.parquet" for protocol in ("gpu", "smoke")]
    jobs = project.snakemake("--dry-run", *targets).stdout.split("\n[")  # each begins with the time
    asking = [job for job in jobs if "gpu=1" in job]
    assert len(asking) == 2  # one per n
    assert all("rule train:" in job and "protocol=gpu" in job for job in asking)
    assert not any("gpu=0" in job for job in jobs)
