"""What an edit reruns, and what it leaves alone, by the job list of a dry run."""

from pathlib import Path

import pandas as pd
import pytest

from .conftest import Project

SCOREBOARD = {"scoreboard": 1, "heatmap": 1}


def test_everything_is_made(done: Project) -> None:
    names = ("one", "two", "both", "over", "scoreboard")
    assert all(
        (done.path / f"figures/{n}.{f}").stat().st_size for n in names for f in ("pdf", "png")
    )
    formats = ("md", "html", "parquet")
    assert all((done.path / f"data/smoke/scoreboard.{f}").stat().st_size for f in formats)
    assert not list(done.path.rglob("*.checkpoint"))


def test_second_run_does_nothing(done: Project) -> None:
    assert done.planned() == {}


def test_touch_does_nothing(done: Project) -> None:
    for source in (done.path / "scripts").rglob("*.py"):
        source.touch()
    assert done.planned() == {}


def test_more_seeds_train_only_those(done: Project) -> None:
    config = done.config
    config["protocols"]["smoke"]["seeds"] = 4
    done.write_config(config)
    assert done.planned() == {"train": 2, "aggregate": 1, "figure": 3} | SCOREBOARD
    trained = [path for path in done.planned_outputs() if "/runs/" in path]
    assert sorted(Path(path).name for path in trained) == ["seeds2-3.parquet"] * 2


def test_another_n_trains_only_that(done: Project) -> None:
    config = done.config
    config["settings"]["two"]["n"] = [1, 4, 6]
    done.write_config(config)
    plan = done.planned()
    assert plan == {"train": 1, "aggregate": 1, "figure": 2} | SCOREBOARD
    assert "data/smoke/runs/two/n6/seeds0-1.parquet" in done.planned_outputs()


def test_edit_to_how_settings_are_read_trains_nothing(done: Project) -> None:
    """Specs are made anew; as they are the same, nothing follows from it."""
    done.edit("scripts/decoupling/expand.py")
    done.snakemake("data/specs/one.json", "data/specs/two.json")
    assert done.planned() == {}


@pytest.mark.parametrize("module", ["decoupling/theory.py", "decoupling/optimum.py", "theory.py"])
def test_theory_edit_trains_nothing(done: Project, module: str) -> None:
    done.edit(f"scripts/{module}")
    assert done.planned() == {"theory": 1, "figure": 3} | SCOREBOARD


@pytest.mark.parametrize(
    ("module", "plan"),
    [
        ("plotting", {"figure": 4}),
        ("style", {"figure": 4, "heatmap": 1}),
        ("heatmap", {"heatmap": 1}),
        ("scoreboard", SCOREBOARD),
        ("published", {"figure": 4} | SCOREBOARD),
        ("checks", {}),
    ],
)
def test_edit_after_training_trains_nothing(done: Project, module: str, plan: dict) -> None:
    done.edit(f"scripts/decoupling/{module}.py")
    assert done.planned() == plan


def test_published_risks_are_only_compared_with(done: Project) -> None:
    published = done.path / "data/published/authors_risks.csv"
    published.write_text(published.read_text() + "one,attention,plain,1,2.5\n")
    assert done.planned() == SCOREBOARD


def test_overlay_redraws_its_figures(done: Project) -> None:
    published = done.path / "data/published/authors_risks.csv"
    published.write_text(published.read_text() + "one,attention,plain,1,2.5\n")
    config = done.config
    config["figures"]["one"] = {"overlay": "published"}
    done.write_config(config)
    assert done.planned() == {"figure": 2} | SCOREBOARD  # the panel, and the page it is on
    done.snakemake()
    table = pd.read_parquet(done.path / "data/smoke/scoreboard.parquet")
    compared = table[table.published_worst.notna()]
    assert compared[["panel", "arm"]].to_numpy().tolist() == [["one", "plain"]]
    assert done.planned() == {}


def test_bayes_trains_nothing(done: Project) -> None:
    config = done.config
    config["figures"]["one"] = {"bayes": True}
    done.write_config(config)
    assert done.planned() == {"bayes": 1, "figure": 2}  # the panel, and the page it is on
    done.snakemake()
    assert set(pd.read_parquet(done.path / "data/bayes/one.parquet").n) == {1, 4}
    assert done.planned() == {}


def test_study_trains_only_what_it_varies(done: Project) -> None:
    config = done.config
    config["figures"]["study"] = {"noise": "one", "noise_var": [0.5], "n": [4]}
    done.write_config(config)
    assert done.planned() == {"spec": 1, "theory": 1, "train": 1, "aggregate": 1, "study": 1}
    done.snakemake()
    config["figures"]["study"] |= {"noise_var": [0.5, 2], "bayes": True}
    done.write_config(config)
    plan = done.planned()
    assert plan.pop("bayes") == 2
    assert plan == {"spec": 1, "theory": 1, "train": 1, "aggregate": 1, "study": 1}


def test_figure_title_redraws_its_figures(done: Project) -> None:
    config = done.config
    config["figures"]["two"] = {"title": "Another title"}
    done.write_config(config)
    assert done.planned() == {"figure": 2}  # the panel, and the page it is on


def test_report_texts_rerun_nothing(done: Project) -> None:
    config = done.config
    config["figures"]["both"] |= {"section": "Another", "caption": "Look here."}
    config["figures"]["one"] = {"caption": "And here."}
    done.write_config(config)
    for text in (done.path / "report").iterdir():
        text.write_text(text.read_text() + "\nedited\n")
    assert done.planned() == {}


@pytest.mark.parametrize("module", ["training", "risk", "moments", "sampling", "deep", "tracks"])
def test_training_edit_retrains(done: Project, module: str) -> None:
    done.edit(f"scripts/decoupling/{module}.py")
    assert done.planned()["train"] == 4


def test_setting_edit_touches_only_that_setting(done: Project) -> None:
    config = done.config
    config["settings"]["two"]["noise_var"] = 2
    done.write_config(config)
    outputs = done.planned_outputs()
    assert {path.split("/")[3] for path in outputs if "/runs/" in path} == {"two"}
    assert "figures/one.pdf" not in outputs
    assert "figures/both.pdf" in outputs


def test_switching_protocols_retrains_nothing(done: Project) -> None:
    config = done.config
    config["protocols"]["other"] = config["protocols"]["smoke"]
    config["protocol"] = "other"
    done.write_config(config)
    assert done.planned()["train"] == 4
    done.snakemake()
    before = {path: path.read_bytes() for path in done.path.glob("data/smoke/**/*.parquet")}
    config["protocol"] = "smoke"
    done.write_config(config)
    assert set(done.planned()) == {"figure", "heatmap"}
    assert before == {path: path.read_bytes() for path in before}


def test_data_of_an_inactive_protocol_uses_its_own_recipe(done: Project) -> None:
    config = done.config
    config["protocols"]["other"] = config["protocols"]["smoke"] | {"seeds": 1}
    done.write_config(config)
    outputs = done.planned_outputs("data/other/risks/one.parquet")
    assert "data/other/runs/one/n1/seeds0-0.parquet" in outputs


def test_same_inputs_same_bytes(done: Project, project: Project) -> None:
    targets = ["figures/one.pdf", "data/smoke/runs/one/n4/seeds0-1.parquet"]
    targets += ["data/smoke/runs/two/n4/seeds0-1.parquet", "figures/two.png"]
    project.snakemake(*targets)
    for target in targets:
        assert (project.path / target).read_bytes() == (done.path / target).read_bytes(), target
