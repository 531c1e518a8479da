"""Figures from the archive, and a machine's own results held against it."""

import json
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from .conftest import Project

ARCHIVED = ("--config", "results=archive", "--")


@pytest.fixture
def archived(done: Project) -> Project:
    """A project whose results are archived; what was trained and drawn is put aside."""
    script = done.path / "scripts/archive.py"
    subprocess.run([sys.executable, script, "smoke", "one", "two"], cwd=done.path, check=True)
    aside = done.path.parent / "aside"
    aside.mkdir()
    for name in ("data/smoke", "data/bayes", "figures"):
        shutil.move(done.path / name, aside / name.rpartition("/")[2])
    return done


def test_everything_is_drawn_without_training(archived: Project) -> None:
    plan = archived.planned("--config", "results=archive")
    assert set(plan) == {"unpack", "figure", "scoreboard", "explorer"}
    archived.snakemake("--config", "results=archive")
    said = json.loads((archived.path / "figures/both.json").read_text())
    assert said["results"] == "archived"
    command = "snakemake --config protocol=smoke results=archive -- figures/both.pdf"
    assert said["command"] == command
    assert "data/archived/smoke/risks/two.parquet" in said["inputs"]
    scores = archived.path / "data/archived/smoke/scoreboard"
    before = archived.path.parent / "aside/smoke/scoreboard.parquet"
    assert pd.read_parquet(f"{scores}.parquet").equals(pd.read_parquet(before))
    assert "Archived results" in scores.with_suffix(".md").read_text()
    assert not (archived.path / "data/smoke").exists()
    assert archived.planned("--config", "results=archive") == {}


def test_what_no_longer_matches_is_a_line_each_and_nothing_is_drawn(archived: Project) -> None:
    config = archived.config
    config["protocols"]["smoke"]["one_layer"]["lr"] = 0.02
    config["settings"]["two"]["noise_var"] = 2
    archived.write_config(config)
    for dry in ([], ["-n"]):
        run = archived.snakemake(*dry, *ARCHIVED, "figures/both.pdf", check=False)
        text = run.stdout + run.stderr
        lines = [line for line in text.splitlines() if line.startswith("results: ")]
        recipe = "one was trained by another recipe than protocols.smoke.one_layer (lr)"
        make = "make it: snakemake --config protocol=smoke results=train -- data/smoke/risks"
        assert sorted(lines) == [
            f"results: {recipe}; {make}/one.parquet",
            f"results: settings.two is not as archived; {make}/two.parquet",
        ]
    assert not (archived.path / "figures").exists()
    assert not (archived.path / "data/archived").exists()


def test_verify_compares_what_was_trained(archived: Project) -> None:
    """Nothing was trained, the same was, and one number is another."""
    none = archived.snakemake("verify", check=False)
    assert none.returncode
    assert "Nothing to compare" in none.stdout + none.stderr
    mine = archived.path / "data/smoke"
    shutil.copytree(archived.path.parent / "aside/smoke", mine, dirs_exist_ok=True)
    jobs = archived.planned("verify")
    assert jobs == {"compare": 1, "verify": 1}
    same = archived.snakemake("verify")
    page = (archived.path / "data/smoke/verify.md").read_text()
    assert page.splitlines()[-1].startswith("Verified: of ")
    assert page.splitlines()[-1] in same.stdout
    rows = pd.read_parquet(archived.path / "data/smoke/verify.parquet")
    assert set(rows.setting) == {"one", "two"}
    assert set(rows.verdict) == {"identical"}
    path = archived.path / "data/smoke/risks/one.parquet"
    risks = pd.read_parquet(path)
    point = (risks.model == "attention") & (risks.arm == "joint") & (risks.n == 4)
    risks.loc[point, "risk"] *= 1.01
    risks.to_parquet(path)
    other = archived.snakemake("verify", check=False)
    assert other.returncode
    text = "Different: 1 of "
    (line,) = {line for line in other.stdout.splitlines() if line.startswith(text)}
    assert "one n = 4 attention joint: risk" in line
    rows = pd.read_parquet(archived.path / "data/smoke/verify.parquet")
    (row,) = rows[rows.verdict == "differs"].itertuples()
    assert (row.setting, row.n, row.arm, row.quantity) == ("one", 4, "joint", "risk")
    assert abs(row.difference - 0.01) < 1e-9


def test_the_gallery_shows_every_figure(done: Project) -> None:
    done.snakemake("docs/gallery.md")
    page = (done.path / "docs/gallery.md").read_text()
    for name in ("both", "one", "over", "scoreboard", "two"):
        assert f"![{name}](gallery/{name}.png)" in page
        small, large = (
            done.path / f"{folder}/{name}.png" for folder in ("docs/gallery", "figures")
        )
        assert 0 < small.stat().st_size < large.stat().st_size
