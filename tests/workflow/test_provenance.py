"""A figure's `.json` in a real run: what is in it, and that no commit redraws anything."""

import json
import subprocess

import yaml

from .conftest import Project


def git(project: Project, *arguments: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", project.path, *own, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def said(project: Project, name: str) -> dict:
    return json.loads((project.path / f"figures/{name}.json").read_text())


def test_every_figure_says_where_it_comes_from(done: Project) -> None:
    for name in ("both", "one", "over", "scoreboard"):
        found = said(done, name)
        assert found["command"] == f"snakemake --config protocol=smoke -- figures/{name}.pdf"
        assert (found["protocol"], found["results"]) == ("smoke", "trained")
        assert found["code"]["commit"] is None  # the copy has no git
        digest = found["code"]["digest"]
        for suffix in ("pdf", "png"):
            assert digest.encode() in (done.path / f"figures/{name}.{suffix}").read_bytes()
    assert list(said(done, "both")["settings"]) == ["one", "two"]
    assert "data/smoke/risks/two.parquet" in said(done, "both")["inputs"]


def test_a_commit_redraws_nothing_and_changes_no_picture(done: Project) -> None:
    before = [(done.path / f"figures/one.{suffix}").read_bytes() for suffix in ("pdf", "png")]
    git(done, "init", "-q")
    git(done, "add", "Snakefile", "rules", "scripts", "config", "envs", "data/published")
    git(done, "commit", "-qm", "first")
    assert done.planned() == {}
    # The same config, given in another way.
    (done.path / "mine.yaml").write_text(yaml.safe_dump({"protocol": "smoke"}))
    again = ("--configfile", "mine.yaml", "--config", "protocol=smoke", "--")
    assert done.planned(*again, "figures/one.pdf") == {}
    done.snakemake("--forcerun", "figure", *again, "figures/one.pdf")
    after = [(done.path / f"figures/one.{suffix}").read_bytes() for suffix in ("pdf", "png")]
    assert after == before
    found = said(done, "one")
    options = "--configfile mine.yaml --config protocol=smoke"
    assert found["command"] == f"snakemake {options} -- figures/one.pdf"
    assert found["code"]["commit"] == git(done, "rev-parse", "HEAD")


def test_the_report_shows_it(done: Project) -> None:
    done.snakemake("--report", "report.html", "--", "figures/one.pdf")
    page = (done.path / "report.html").read_text()
    assert "Provenance: figures/one.json" in page
    assert said(done, "one")["code"]["digest"] in page
