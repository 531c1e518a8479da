"""The tables of docs/reproduction.md, made again from kept results and from theory."""

import re
from decimal import Decimal

import pandas as pd
import pytest
from decoupling.analysis.page import span

from .conftest import ROOT, Project, copy_sources

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
TABLE = re.compile(r"^( *<!-- table: .*?-->)$.*?^( *<!-- end -->)$", re.M | re.S)
PAGE = ("--forcerun", "page_tables", "--", "docs/reproduction.md")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """With the page made from what is around its tables."""
    made = copy_sources(tmp_path_factory.mktemp("page") / "project")
    page = made.path / "docs/reproduction.md"
    page.write_text(TABLE.sub(r"\1\n\2", page.read_text()))
    made.snakemake(*PAGE)
    return made


def test_page_of_results_is_what_the_data_say(project: Project) -> None:
    """Kept results are the same in every clone, and theory does not depend on the protocol. But it
    is computed here, and sums are rounded differently elsewhere: a number may be printed with
    another last digit."""
    words, numbers = taken_apart((project.path / "docs/reproduction.md").read_text())
    kept_words, kept_numbers = taken_apart((ROOT / "docs/reproduction.md").read_text())
    assert words == kept_words
    for number, kept_number in zip(numbers, kept_numbers, strict=True):
        digits = kept_number.as_tuple().exponent
        assert number.as_tuple().exponent == digits
        assert abs(number - kept_number) <= Decimal((0, (1,), digits)), (number, kept_number)


def test_a_marker_without_a_table_is_named_and_the_page_stays(project: Project) -> None:
    page = project.path / "docs/reproduction.md"
    kept = page.read_text()
    wrong = kept.replace("<!-- table: heads -->", "<!-- table: haeds -->")
    page.write_text(wrong)
    done = project.snakemake(*PAGE, check=False)
    stayed = page.read_text() == wrong
    page.write_text(kept)
    assert done.returncode
    log = (project.path / "logs/docs/page_tables.log").read_text()
    assert "no table is called haeds; no marker has the table heads" in log
    assert stayed


def test_page_of_results_says_what_the_optima_are(project: Project) -> None:
    """In its text, where an optimum takes too long for a unit test."""
    text = " ".join((ROOT / "docs/reproduction.md").read_text().split())
    paths = (project.path / "data/theory").glob("fig*.parquet")
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
