"""Results in another folder than the clone, clones that move, and the workflow as a module."""

import shutil
from pathlib import Path

from .conftest import Project, copy_sources, tiny_config

OUTER = """
module decoupling:
    snakefile: "{clone}/Snakefile"
    config: config


use rule * from decoupling as paper_*


rule mine:
    default_target: True
    input:
        "figures/one.pdf",
    output:
        "mine.txt",
    shell:
        "echo made > {{output}}"
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
    clone = copy_sources(tmp_path / "clone")
    clone.write_config(tiny_config())
    outer = Project(tmp_path / "outer")
    (outer.path / "config").mkdir(parents=True)
    before = files(clone.path)
    for text in (OUTER, OUTER.replace("    config: config\n", "")):
        (outer.path / "Snakefile").write_text(text.format(clone=clone.path))
        if "config: config" in text:
            outer.write_config(clone.config)
            args = ["--configfile", "config/config.yaml", "--cores=2", "--"]
        else:
            (outer.path / "config/config.yaml").unlink()
            args = ["--cores=2", "--"]
        plan = outer.planned(*args)
        made = {"mine": 1, "paper_figure": 1, "paper_train": 2}
        assert plan == {} if (outer.path / "mine.txt").exists() else made.items() <= plan.items()
        outer.snakemake(*args)
        assert (outer.path / "figures/one.pdf").exists()
        assert outer.planned(*args) == {}
    assert outer.planned("--cores=2", "paper_all")["paper_scoreboard"] == 1
    assert files(clone.path) == before
