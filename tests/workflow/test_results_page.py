"""The tables of the docs and the CSV files of archived points, made again from archived results and
from theory."""

import re
from decimal import Decimal
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from .conftest import ROOT, Project, copy, made_once

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
TABLE = re.compile(r"^( *<!-- table: .*?-->)$.*?^( *<!-- end -->)$", re.M | re.S)
PAGES = ("docs/findings.md", "docs/training.md", "docs/performance.md")
POINTS = sorted(path.name for path in (ROOT / "data/archive/points").glob("*.csv"))
MAKE = ("--forcerun", "page_tables", "--", PAGES[0])


@pytest.fixture(scope="session")
def project(drawn: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """With the pages made from what is around their tables. Theory is the gallery's, which is of
    the same settings."""

    def make(project: Project) -> None:
        for page in PAGES:
            path = project.path / page
            path.write_text(TABLE.sub(r"\1\n\2", path.read_text()))
        for name in POINTS:
            (project.path / "data/archive/points" / name).unlink()
        project.snakemake(*MAKE)

    return made_once(tmp_path_factory, "page", make, partial(copy, drawn.path))


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_what_the_data_say(project: Project, page: str) -> None:
    """Archived results are the same in every clone, and theory does not depend on the protocol.
    But it is computed here, and sums are rounded differently elsewhere: a number may be printed
    with another last digit."""
    words, numbers = taken_apart(project.path / page)
    kept_words, kept_numbers = taken_apart(ROOT / page)
    assert words == kept_words
    for number, kept_number in zip(numbers, kept_numbers, strict=True):
        digits = kept_number.as_tuple().exponent
        assert number.as_tuple().exponent == digits
        assert abs(number - kept_number) <= Decimal((0, (1,), digits)), (number, kept_number)


@pytest.mark.parametrize("name", POINTS)
def test_points_are_what_the_data_say(project: Project, name: str) -> None:
    """Up to the last of six digits."""
    made, kept = (
        pd.read_csv(folder / "data/archive/points" / name) for folder in (project.path, ROOT)
    )
    pd.testing.assert_frame_equal(made, kept, rtol=2e-5, atol=1e-12)


def test_a_marker_without_a_table_is_named_and_the_pages_stay(
    project: Project, tmp_path: Path
) -> None:
    own = copy(project.path, tmp_path / "project")
    page = own.path / PAGES[0]
    wrong = page.read_text().replace("<!-- table: controls -->", "<!-- table: contrlos -->")
    page.write_text(wrong)
    done = own.snakemake(*MAKE, check=False)
    assert done.returncode
    log = (own.path / "logs/docs/page_tables.log").read_text()
    assert "no marker has the table controls" in log
    assert page.read_text() == wrong


def taken_apart(page: Path) -> tuple[str, list[Decimal]]:
    """Its words, and its numbers with the digits that they are printed with."""
    text = page.read_text()
    numbers = [Decimal(found.replace(",", "").replace("−", "-")) for found in NUMBER.findall(text)]
    return NUMBER.sub("#", text), numbers
