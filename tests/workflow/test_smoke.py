"""The whole DAG of the project's own config, at the smoke protocol, from clean sources."""

import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from decoupling.results.page import span
from decoupling.results.scoreboard import SCOREBOARD
from decoupling.tables import (
    BAYES,
    HELD_OUT,
    IDENTITY,
    PROMPT_SHARE,
    REAL,
    RISKS,
    RUNS,
    SAMPLED,
    THEORY,
)
from decoupling.theory.theorems import CLOSED_FORMS

from .conftest import ROOT, Project, copy_sources
from .test_report import embedded

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
TABLE = re.compile(r"^( *<!-- table: .*?-->)$.*?^( *<!-- end -->)$", re.M | re.S)
PAGE = ("--config", "protocol=smoke", "--forcerun", "page_tables", "--", "docs/reproduction.md")
TABLES = {"bdf", "star", "star_differences", "vietnam", "vietnam_total"}  # settings with a table


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = copy_sources(tmp_path_factory.mktemp("smoke") / "project")
    made.snakemake("--config", "protocol=smoke")
    return made


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
        ("smoke/runs/*/*/*", RUNS),
        ("smoke/risks/*", RISKS),
        ("theory/*", THEORY),
        ("bayes/*", BAYES),
        ("identity/*", IDENTITY),
        ("sampled/*/*", SAMPLED),
        ("smoke/held_out/*", HELD_OUT),
        ("smoke/real/*", REAL),
        ("smoke/prompt_share/*", PROMPT_SHARE),
        ("smoke/scoreboard", SCOREBOARD),
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


def test_page_of_results_is_what_the_data_say(smoke: Project) -> None:
    """Kept results are the same in every clone, and theory does not depend on the protocol. But it
    is computed here, and sums are rounded differently elsewhere: a number may be printed with
    another last digit."""
    page = smoke.path / "docs/reproduction.md"
    kept = page.read_text()
    page.write_text(TABLE.sub(r"\1\n\2", kept))
    smoke.snakemake(*PAGE)
    words, numbers = taken_apart(page.read_text())
    kept_words, kept_numbers = taken_apart(kept)
    assert words == kept_words
    for number, kept_number in zip(numbers, kept_numbers, strict=True):
        digits = kept_number.as_tuple().exponent
        assert number.as_tuple().exponent == digits
        assert abs(number - kept_number) <= Decimal((0, (1,), digits)), (number, kept_number)


def test_a_marker_without_a_table_is_named_and_the_page_stays(smoke: Project) -> None:
    page = smoke.path / "docs/reproduction.md"
    kept = page.read_text()
    wrong = kept.replace("<!-- table: heads -->", "<!-- table: haeds -->")
    page.write_text(wrong)
    done = smoke.snakemake(*PAGE, check=False)
    stayed = page.read_text() == wrong
    page.write_text(kept)
    assert done.returncode
    log = (smoke.path / "logs/docs/page_tables.log").read_text()
    assert "no table is called haeds; no marker has the table heads" in log
    assert stayed


def test_page_of_results_says_what_the_optima_are(smoke: Project) -> None:
    """In its text, where an optimum takes too long for a unit test."""
    text = " ".join((ROOT / "docs/reproduction.md").read_text().split())
    paths = (smoke.path / "data/theory").glob("fig*.parquet")
    theory = pd.concat([pd.read_parquet(path) for path in paths])
    risk = theory.pivot(index=["setting", "n", "arm"], columns="curve", values="risk")
    above = (risk.optimum / risk.theorem - 1).unstack("arm")
    assert f"its optimum lies {span(above.finetune, 2)} from Theorem 2" in text
    assert f"{-above.joint_heads.min():.2%} at most" in text
    joint, plain = (risk.loc[("fig2c", 50, arm)] for arm in ("joint", "plain"))
    assert f"Theorem 3 lies {joint.theorem / joint.optimum - 1:.2%} above the optimum" in text
    assert f"Theorem 1 {plain.theorem / plain.optimum - 1:.2%}" in text
    assert f"leaves {joint.energy / joint.optimum - 1:.3%}" in text
    authors = pd.read_csv(ROOT / "data/published/authors_risks.csv")
    authors = authors[(authors.arm == "plain") & (authors.model == "attention")]
    optimum = risk.optimum.xs("plain", level="arm")
    off = (authors.set_index(["setting", "n"]).risk / optimum - 1).dropna()
    assert f"{span(off, 2)} from the numerical optimum" in text


def taken_apart(page: str) -> tuple[str, list[Decimal]]:
    """Its words, and its numbers with the digits that they are printed with."""
    numbers = [Decimal(found.replace(",", "").replace("−", "-")) for found in NUMBER.findall(page)]
    return NUMBER.sub("#", page), numbers
