"""What an edit reruns, and what it leaves alone, by the job list of a dry run."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from .conftest import Project

SCOREBOARD = {"scoreboard": 1}
MODEL = """
from . import attention


class Another(attention.Attention):
    name = "another"


MODEL = Another
"""
KIND = """
from . import panel


class Another(panel.Panel):
    pass


KIND = Another
"""


def test_everything_is_made_and_a_second_run_or_touch_does_nothing(done: Project) -> None:
    names = ("one", "two", "both", "over", "scoreboard")
    assert all(
        (done.path / f"figures/{n}.{f}").stat().st_size for n in names for f in ("pdf", "png")
    )
    formats = ("md", "html", "parquet")
    assert all((done.path / f"data/smoke/scoreboard.{f}").stat().st_size for f in formats)
    assert (done.path / "explorer.html").stat().st_size
    assert not list(done.path.rglob("*.checkpoint"))
    for source in (done.path / "scripts").rglob("*.py"):
        source.touch()
    assert done.planned() == {}


def test_more_seeds_and_another_n_train_only_those(done: Project) -> None:
    config = done.config
    config["protocols"]["smoke"]["seeds"] = 4
    config["protocols"]["smoke"]["deep"]["seeds"] = 2
    done.write_config(config)
    plan = done.plan()
    assert plan.jobs == {"train": 2, "aggregate": 1, "figure": 4} | SCOREBOARD
    trained = {path for path in plan.outputs if "/runs/" in path}
    assert {Path(path).name for path in trained} == {"seeds2-3.parquet"}
    config["protocols"]["smoke"]["seeds"] = 2
    config["settings"]["two"]["n"] = [1, 4, 6]
    done.write_config(config)
    plan = done.plan()
    deeper = {"bayes": 1, "bounds": 1, "explorer": 1}
    assert plan.jobs == {"train": 1, "aggregate": 1, "figure": 3} | deeper | SCOREBOARD
    assert "data/smoke/runs/two/n6/seeds0-1.parquet" in plan.outputs


def test_edit_to_how_settings_are_read_trains_nothing(done: Project) -> None:
    """As long as the numbers are the same, and however the config writes them."""
    done.edit("scripts/decoupling/sources/gaussian/block.py")
    done.edit("scripts/decoupling/validation.py")
    config = done.config
    config["settings"]["one"] |= {"means": [[1.0, 1.0], -0.5], "sigma_x": "identity"}
    done.write_config(config)
    assert done.planned() == {}


@pytest.mark.parametrize(
    ("edits", "plan"),
    [
        (["theory/optimum"], {"theory": 1, "figure": 4} | SCOREBOARD),
        # panels and the explorer know its arms
        (["theory/theorems"], {"theory": 1, "figure": 5, "explorer": 1} | SCOREBOARD),
        (["figures/overview", "figures/rates", "figures/scoreboard"], {"figure": 2}),
        (["figures/style", "models/arms", "problem/family"], {"figure": 5, "explorer": 1}),
        (["analysis/scoreboard"], {"figure": 1} | SCOREBOARD),
        (["plan/checks", "plan/read", "plan/jobs", "plan/code", "config/protocols"], {}),
    ],
    ids=lambda value: " ".join(value),
)
def test_edit_after_training_trains_nothing(done: Project, edits: list, plan: dict) -> None:
    for module in edits:
        done.edit(f"scripts/decoupling/{module}.py")
    assert done.planned() == plan


@pytest.mark.parametrize(
    ("edits", "settings"),
    [
        (["train/state"], {"one", "two"}),
        (["models/attention"], {"one"}),
        (["models/deep_attention", "engines/gram"], {"two"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_training_edit_retrains_what_uses_it(done: Project, edits: list, settings: set) -> None:
    for module in edits:
        done.edit(f"scripts/decoupling/{module}.py")
    trained = {path.split("/")[3] for path in done.plan().outputs if "/runs/" in path}
    assert trained == settings


def test_new_model_and_new_kind_rerun_nothing_and_can_be_used(done: Project) -> None:
    """A file is all that either takes."""
    (done.path / "scripts/decoupling/models/another.py").write_text(MODEL)
    (done.path / "scripts/decoupling/figures/another.py").write_text(KIND)
    assert done.planned() == {}
    config = done.config
    config["settings"]["three"] = config["settings"]["one"] | {"models": ["another"], "n": [2]}
    config["figures"]["mine"] = {"kind": "another", "setting": "three"}
    done.write_config(config)
    new = {"spec": 1, "theory": 1, "train": 1, "aggregate": 1, "figure": 3} | SCOREBOARD
    assert done.planned() == new | {"bayes": 1, "explorer": 1}
    done.snakemake("figures/mine.pdf", "figures/three.pdf")
    risks = pd.read_parquet(done.path / "data/smoke/risks/three.parquet")
    assert set(risks.model) == {"another"}


def test_published_risks_are_only_compared_with_and_overlaid(done: Project) -> None:
    published = done.path / "data/published/authors_risks.csv"
    published.write_text(published.read_text() + "one,attention,plain,1,2.5\n")
    assert done.planned() == {"figure": 1, "explorer": 1} | SCOREBOARD
    config = done.config
    config["figures"]["one"] = {"overlay": "published"}
    done.write_config(config)
    again = {"figure": 3, "explorer": 1} | SCOREBOARD  # the panel, and the page it is on
    assert done.planned() == again
    done.snakemake()
    table = pd.read_parquet(done.path / "data/smoke/scoreboard.parquet")
    compared = table[table.published_worst.notna()]
    assert compared[["panel", "arm"]].to_numpy().tolist() == [["one", "plain"]]
    assert done.planned() == {}
    published.write_text(published.read_text() + "one,attention,plain,4,1.5\n")
    assert done.planned() == again


def test_bayes_trains_nothing(done: Project) -> None:
    config = done.config
    config["figures"]["one"] = {"bayes": True}
    done.write_config(config)
    assert done.planned() == {"figure": 2}  # the panel, and the page it is on; the explorer has it
    done.snakemake()
    assert set(pd.read_parquet(done.path / "data/bayes/one.parquet").n) == {1, 4}
    assert done.planned() == {}


def test_a_figure_trains_only_what_it_varies(done: Project) -> None:
    config = done.config
    study = {"kind": "noise", "setting": "one", "noise_var": [0.5], "n": [4]}
    config["figures"]["study"] = study
    done.write_config(config)
    assert done.planned() == {"spec": 1, "theory": 1, "train": 1, "aggregate": 1, "figure": 1}
    done.snakemake()
    config["figures"]["study"] = study | {"noise_var": [0.5, 2], "bayes": True}
    done.write_config(config)
    plan = done.planned()
    assert plan.pop("bayes") == 2
    assert plan == {"spec": 1, "theory": 1, "train": 1, "aggregate": 1, "figure": 1}


def test_titles_redraw_their_figures_and_report_texts_nothing(done: Project) -> None:
    config = done.config
    config["figures"]["two"] = {"title": "Another title"}
    done.write_config(config)
    assert done.planned() == {"figure": 2}  # the panel, and the page it is on
    config["figures"]["two"] = {"caption": "Look here."}
    config["figures"]["both"] |= {"section": "Another", "caption": "And here."}
    done.write_config(config)
    for text in (done.path / "report").iterdir():
        text.write_text(text.read_text() + "\nedited\n")
    assert done.planned() == {}


def test_edit_to_the_explorer_makes_it_again_and_nothing_else(done: Project) -> None:
    for part in ("page.html.j2", "style.css", "theory.js", "app.js"):
        done.edit(f"explorer/{part}")
    assert done.planned() == {"explorer": 1}


def test_the_explorer_trains_nothing(project: Project) -> None:
    assert project.planned("explorer.html") == {"spec": 2, "bayes": 2, "explorer": 1}
    assert "explorer" not in project.planned("figures/both.pdf")


def test_the_explorer_shows_the_settings_it_can(project: Project) -> None:
    config = project.config
    config["settings"]["three"] = config["settings"]["one"] | {"sigma_x": [1, 2]}
    config["settings"]["deep"] = config["settings"]["two"] | {"layers": [1, 3]}
    project.write_config(config)
    assert project.planned("explorer.html")["spec"] == 3
    project.snakemake("explorer.html")
    page = (project.path / "explorer.html").read_text()
    data = json.loads(re.search(r'<script id="data".*?>(.*?)</script>', page, re.S)[1])
    names = [preset["name"] for preset in data["presets"]]
    assert names == ["deep.1", "deep.3", "one", "two"]
    assert str(project.path) not in page


def test_setting_edit_touches_only_that_setting(done: Project) -> None:
    config = done.config
    config["settings"]["two"]["noise_var"] = 2
    done.write_config(config)
    outputs = done.plan().outputs
    assert {path.split("/")[3] for path in outputs if "/runs/" in path} == {"two"}
    assert "figures/one.pdf" not in outputs
    assert "figures/both.pdf" in outputs


def test_switching_protocols_retrains_nothing(done: Project) -> None:
    config = done.config
    smoke = config["protocols"]["smoke"]
    alone = {key: value for key, value in smoke["deep"].items() if key != "halve_at"}
    config["protocols"]["other"] = smoke | {"seeds": 1, "deep": alone}
    done.write_config(config)
    outputs = done.plan("data/other/risks/one.parquet").outputs
    assert "data/other/runs/one/n1/seeds0-0.parquet" in outputs  # by its own recipe
    config["protocol"] = "other"
    done.write_config(config)
    assert done.planned()["train"] == 4
    figures = ("figures/one.pdf", "figures/two.pdf")
    done.snakemake(*figures)
    before = {path: path.read_bytes() for path in done.path.glob("data/smoke/**/*.parquet")}
    config["protocol"] = "smoke"
    done.write_config(config)
    assert done.planned(*figures) == {"figure": 2}
    assert before == {path: path.read_bytes() for path in before}


def test_same_inputs_same_bytes(done: Project, project: Project) -> None:
    targets = ["figures/one.pdf", "data/smoke/runs/one/n4/seeds0-1.parquet"]
    targets += ["data/smoke/runs/two/n4/seeds0-1.parquet", "figures/two.png"]
    project.snakemake(*targets)
    for target in targets:
        assert (project.path / target).read_bytes() == (done.path / target).read_bytes(), target
