"""Everything that the shipped config makes, at protocol smoke, from clean sources."""

import re
from pathlib import Path

import pandas as pd
import pytest
from decoupling import tables
from decoupling.theory.theorems import CLOSED_FORMS

from .conftest import Project, made_once
from .test_report import embedded

pytestmark = pytest.mark.slow
TABLES = {"bdf", "star", "star_differences", "vietnam", "vietnam_total"}  # settings with a table


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Every setting at its least and its largest n, and figures with lengths of their own at few;
    tables in two folds, with a tenth of the bootstrap's draws (all of them: test_table)."""
    return made_once(tmp_path_factory, "smoke", make_all)


def make_all(made: Project) -> None:
    redrawn = made.path / "scripts/decoupling/analysis/redrawn.py"
    fewer, changed = re.subn(r"(?m)^THEORY_DRAWS = 200\b", "THEORY_DRAWS = 20", redrawn.read_text())
    assert changed == 1
    redrawn.write_text(fewer)
    config = made.config
    for block in config["settings"].values():
        block["n"] = sorted({min(block["n"]), max(block["n"])})
        if "table" in block:
            block["folds"] = 2
    figures = config["figures"]
    figures["mixtures"]["count"] = 20
    figures["softmax_heads"]["n"] = [50]
    figures["noise"] |= {"n": [5], "noise_var": [0, 5]}
    for name in ("rates", "assumption1", "identity"):  # the last two are in one decade
        figures[name]["n"] = [n for n in (1, 20, 50) if n in figures[name]["n"]]
    made.write_config(config)
    made.snakemake("--config", "protocol=smoke")


def test_every_figure_is_made(smoke: Project) -> None:
    names = ["fig1", "fig2", "figA1", "figA2", "scoreboard", "rates", "noise", "assumption1"]
    names += ["mixtures", "identity", "shared", "heads", "real", "real_gain", *TABLES]
    names += ["softmax", "softmax_clean", "softmax_noisy", "softmax_heads", "softmax_share"]
    names += ["transformer"]
    names += [f"fig2{x}" for x in "abcd"] + [f"figA1{x}" for x in "abcd"]
    names += [f"figA2{x}" for x in "abcdef"]
    made = {path.name for path in (smoke.path / "figures").iterdir()}
    assert made == {f"{name}.{suffix}" for name in names for suffix in ("pdf", "png", "json")}


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        ("smoke/runs/*/*/*", tables.RUNS),
        ("smoke/risks/*", tables.RISKS),
        ("theory/*", tables.THEORY),
        ("bayes/*", tables.BAYES),
        ("identity/*", tables.IDENTITY),
        ("sampled/*/*", tables.SAMPLED),
        ("smoke/held_out/*", tables.HELD_OUT),
        ("smoke/real/*", tables.REAL),
        ("smoke/prompt_share/*", tables.PROMPT_SHARE),
        ("smoke/scoreboard", tables.SCOREBOARD),
    ],
)
def test_tables_keep_their_columns(smoke: Project, pattern: str, schema) -> None:
    paths = list((smoke.path / "data").glob(f"{pattern}.parquet"))
    assert paths
    for path in paths:
        assert list(pd.read_parquet(path).columns) == schema.names


def test_every_setting_has_its_points(smoke: Project) -> None:
    for name, block in smoke.config["settings"].items():
        folder = "real" if name in TABLES else "risks"
        risks = pd.read_parquet(smoke.path / f"data/smoke/{folder}/{name}.parquet")
        risks = risks[risks.model != "baseline"]
        assert set(risks.n) == set(block["n"])
        assert set(risks.arm) == set(block["arms"])
        assert set(risks.layers) == set(block.get("layers", [1]))
        assert set(risks.model) == set(block["models"])


def test_scoreboard_has_every_curve(smoke: Project) -> None:
    table = pd.read_parquet(smoke.path / "data/smoke/scoreboard.parquet")
    curves = {name: set(rows.arm) for name, rows in table.groupby("panel")}
    varied = {f"softmax_heads.{heads}" for heads in (1, 4, 8)}
    assert set(curves) == (set(smoke.config["settings"]) - TABLES) | varied
    for name, block in smoke.config["figures"].items():
        if name in curves:
            assert curves[name] == set(block.get("arms", smoke.config["settings"][name]["arms"]))
    linear = table.model.isin(["attention", "reduced"]) & (table.layers == 1)
    known = linear & table.arm.isin(CLOSED_FORMS["theorem"])
    assert (table.theorem_worst.notna() == known).all()
    assert set(table[linear & ~known].arm) == {"heads"}
    compared = table[table.published_worst.notna()]
    assert set(compared.panel) == {"fig2a", "fig2c", "fig2d"}
    assert set(table[table.model == "reduced"].panel) == {"fig2a", "fig2b", "figA1a", "figA1c"}


def test_report_has_every_figure_in_its_section(smoke: Project) -> None:
    smoke.snakemake("--config", "protocol=smoke", "--report", "report.html")
    captions = {path: r["caption"] for path, r in embedded(smoke, "results").items()}
    figures = smoke.config["figures"]
    names = {f"figures/{name}.png" for name in (*figures, "scoreboard")}
    assert set(captions) == names | {"data/smoke/scoreboard.html"}
    assert not [path for path, text in captions.items() if "system-message" in text]  # bad markup
    assert all(block["caption"] and block["section"] for block in figures.values())
    sections = {block["section"] for block in figures.values()}
    assert set(embedded(smoke, "categories")) == sections | {"Scoreboard"}


def test_nothing_is_cut_off(smoke: Project) -> None:
    logs = {path.stem: path.read_text() for path in (smoke.path / "logs/figures").glob("*.log")}
    assert len(logs) > 20
    assert [name for name, text in logs.items() if "does not fit" in text] == []


def test_logs_have_a_heartbeat(smoke: Project) -> None:
    log = Path(smoke.path / "logs/smoke/train/fig2c/n50/seeds0-1.log").read_text()
    assert "best/median risk" in log
    assert "ETA" in log
