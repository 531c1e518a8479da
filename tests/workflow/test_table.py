"""A setting with a table: from a CSV file to its figure, and what a changed file reruns."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from decoupling.tables import HELD_OUT, REAL

from .conftest import ROOT, Project, copy, copy_sources, made_once, tiny_config

sys.path.insert(0, str(ROOT / "tests/unit"))
from tables import make_rows, write

SETTING = {"n": [1, 3], "folds": 2, "arms": ["plain", "joint"]}
FIGURE = "figures/mine.pdf"
OTHER = "figures/one.pdf"  # of a mixture
EVERYTHING = {
    "fold": 2,
    "fold_theory": 2,
    "fold_redrawn": 2,
    "train": 4,
    "aggregate": 2,
    "held_out": 2,
    "real": 1,
    "figure": 1,
}


def config_with(block: dict) -> dict:
    config = tiny_config()
    config["settings"] |= {"mine": block | {"table": "mine.csv"} | SETTING}
    config["figures"]["gain"] = {"kind": "real_gain", "settings": ["mine"]}
    return config


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the figures of a small table."""

    def make(project: Project) -> None:
        project.write_config(config_with(write(project.path / "mine.csv", make_rows())))
        done = project.snakemake("--", FIGURE, OTHER, "figures/gain.pdf")
        (project.path / "said").write_text(done.stdout + done.stderr)

    return made_once(tmp_path_factory, "table", make).path


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Project:
    return copy(made, tmp_path / "project")


def test_figures_and_tables_are_made_and_touching_does_nothing(project: Project) -> None:
    for name in ("mine", "gain"):
        assert (project.path / f"figures/{name}.png").exists()
    real = pd.read_parquet(project.path / "data/smoke/real/mine.parquet")
    assert list(real.columns) == REAL.names
    assert set(real.n) == {1, 3}
    held_out = pd.read_parquet(project.path / "data/smoke/held_out/mine.fold1.parquet")
    assert list(held_out.columns) == HELD_OUT.names
    (project.path / "mine.csv").touch()
    assert project.planned("--", FIGURE) == {}


def test_the_gate_is_known_before_training_starts(project: Project) -> None:
    """All bootstraps of folds have started by then, and none has to say that its gate fails."""
    said = (project.path / "said").read_text()
    started = re.findall(r"^(?:local)?rule (\w+):\n    input: (?!.*specs/one)", said, re.M)
    last = max(i for i, rule in enumerate(started) if rule == "fold_redrawn")
    assert last < started.index("train")
    assert "predicted over measured" not in said


def test_a_training_that_has_not_ended_is_warned_of(project: Project) -> None:
    """Few iterations, as the table's largest share of a risk that a further search removes says."""
    real = pd.read_parquet(project.path / "data/smoke/real/mine.parquet")
    joint = real[(real.model == "attention") & (real.arm == "joint")]
    left = joint.descent_left.max()
    found = f"is up to {left / (1 - left):.1%} above where a further search ends (n = 1, 3)"
    told = f"Warning: mine: the best of 2 seeds of attention, joint, {found}"
    assert f"{told}; try more iterations" in (project.path / "said").read_text()


def test_a_changed_table_reruns_all_that_depends_on_it_and_nothing_else(project: Project) -> None:
    rows = make_rows()
    rows[0][-1] += 0.5
    write(project.path / "mine.csv", rows)
    assert project.planned("--", FIGURE, OTHER) == EVERYTHING


def test_another_n_trains_that_n_alone(project: Project) -> None:
    config = project.config
    config["settings"]["mine"]["n"] = [1, 2, 3]
    project.write_config(config)
    plan = project.plan("--", FIGURE)
    assert "fold" not in plan.jobs  # units are those of the longest context
    assert {path.split("/")[4] for path in plan.outputs if "/runs/" in path} == {"n2"}


def test_longer_contexts_choose_units_again(project: Project) -> None:
    config = project.config
    config["settings"]["mine"]["n"] = [1, 3, 5]
    project.write_config(config)
    assert project.planned("--", FIGURE)["fold"] == 2


def test_a_table_that_is_not_there(project: Project) -> None:
    (project.path / "mine.csv").unlink()
    done = project.snakemake("--dry-run", check=False)
    assert done.returncode
    message = "settings.mine.table: there is no file mine.csv; give the path of a CSV file"
    assert message in done.stdout + done.stderr


def test_a_table_made_by_a_rule_is_looked_at_before_anything_trains(tmp_path: Path) -> None:
    """The columns are known only when the rule has made it."""
    project = copy_sources(tmp_path / "project")
    config = tiny_config()
    block = {"table": "data/tables/bdf.csv", "unit": "school", "group": "subject"}
    block |= {"features": ["iq"], "target": "post", "n": [1]}
    config["settings"] = {"mine": block}
    config["figures"] = {}
    project.write_config(config)
    done = project.snakemake("--", FIGURE, check=False)
    assert done.returncode
    said = done.stdout + done.stderr
    assert "settings.mine.features: the table has no column 'iq'; it has school, iq_verbal" in said
    assert not (project.path / "data/smoke").exists()


def test_an_archived_table_is_drawn_and_verified_without_the_file(project: Project) -> None:
    script = project.path / "scripts/archive.py"
    command = [sys.executable, script, "smoke", "mine"]
    subprocess.run(command, cwd=project.path, check=True)
    page = project.snakemake("verify").stdout
    assert "Verified: of " in page
    path = project.path / "data/smoke/real/mine.parquet"
    real = pd.read_parquet(path)
    real.assign(risk=real.risk * 1.01).to_parquet(path)
    assert "Different: " in project.snakemake("verify", check=False).stdout
    for name in ("data/smoke", "data/tables", "figures"):
        shutil.rmtree(project.path / name, ignore_errors=True)
    project.snakemake("--config", "results=archive", "--", FIGURE)
    said = json.loads((project.path / "figures/mine.json").read_text())
    assert said["results"] == "archived"
    assert [*said["inputs"]] == ["data/archived/smoke/real/mine.parquet"]
