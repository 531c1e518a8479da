"""Results in another folder than the clone, clones that move, and the workflow as a module."""

import shutil
from pathlib import Path

from .conftest import Project, copy_sources, tiny_config

OUTER = """
rule mine:
    input:
        "figures/one.pdf",
    output:
        "mine.txt",
    shell:
        "echo made > {{output}}"


module decoupling:
    snakefile: "{clone}/Snakefile"
{config}

use rule * from decoupling as paper_*
"""


def files(path: Path) -> set[Path]:
    skipped = {".snakemake", "__pycache__"}
    return {p for p in path.rglob("*") if p.is_file() and skipped.isdisjoint(p.parts)}


def test_results_in_another_folder(project: Project, tmp_path: Path) -> None:
    """With the shipped config, then one of the folder's own; nothing goes into the clone, and
    nothing is made anew when either is moved."""
    work, clone = tmp_path / "elsewhere", project.path
    work.mkdir()
    before = files(clone)
    there = ["--snakefile", str(clone / "Snakefile"), "--directory", str(work)]
    project.snakemake(*there, "figures/one.pdf", cwd=tmp_path)
    assert (work / "figures/one.pdf").exists()
    assert files(clone) == before

    moved = Project(clone.rename(tmp_path / "renamed"))
    again = ["--snakefile", str(moved.path / "Snakefile"), "--directory"]
    assert moved.planned(*again, str(work), "figures/one.pdf", cwd=tmp_path) == {}
    work = work.rename(tmp_path / "deeper")
    assert moved.planned(*again, str(work), "figures/one.pdf", cwd=tmp_path) == {}

    config = moved.config
    config["settings"] = {"own": config["settings"]["one"]}
    config["figures"] = {}
    shutil.copytree(moved.path / "config", work / "config")
    Project(work).write_config(config)
    plan = moved.plan(*again, str(work), cwd=tmp_path)
    assert "figures/own.pdf" in plan.outputs
    assert "figures/one.pdf" not in plan.outputs


def test_results_in_the_clone_move_with_it(done: Project, tmp_path: Path) -> None:
    moved = Project(done.path.rename(tmp_path / "renamed"))
    assert moved.planned() == {}


def test_as_a_module_of_another_workflow(tmp_path: Path) -> None:
    """Which has its own first rule, and a config of its own that is none of this one's business;
    then with this one's config handed over."""
    clone = copy_sources(tmp_path / "clone")
    clone.write_config(tiny_config())
    before = files(clone.path)
    outer = Project(tmp_path / "outer")
    (outer.path / "config").mkdir(parents=True)
    outer.write_config({"samples": 3})
    (outer.path / "Snakefile").write_text(OUTER.format(clone=clone.path, config=""))
    plan = outer.planned("--cores=2")
    assert plan == {"mine": 1, "paper_figure": 1, "paper_spec": 1, "paper_train": 2} | {
        "paper_aggregate": 1,
        "paper_theory": 1,
    }
    outer.snakemake("--cores=2")
    assert (outer.path / "figures/one.pdf").exists()
    assert outer.planned("--cores=2") == {}
    assert outer.planned("--cores=2", "paper_all")["paper_scoreboard"] == 1
    outer.snakemake("--cores=2", "--report", "report.html", "--", "mine")

    handed = OUTER.format(clone=clone.path, config="    config: config")
    (outer.path / "Snakefile").write_text(handed)
    outer.write_config(clone.config)
    assert outer.planned("--cores=2", "--configfile", "config/config.yaml", "--", "mine") == {}
    assert files(clone.path) == before
