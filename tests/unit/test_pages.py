"""Pages of the docs: what they quote, where they link to, and how long they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from decoupling.analysis.page import MARK, MARKED

ROOT = Path(__file__).parents[2]
DOCS = {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
PAGES = [*DOCS.values(), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
PAGES += [ROOT / folder / "README.md" for folder in ("config", "profiles", "data/archive")]
PAGES += [ROOT / "data/published/README.md"]
NUMBER = r"[+−]?\d[\d,]*(?:\.\d+)?%?(?: of \d+)?"
QUOTED = re.compile(rf"({NUMBER}(?: to {NUMBER})?)[\w ]*<!-- (\w+) -->")
COMMENT = re.compile(r"<!-- (?!table: |end )")


def tables() -> dict[str, str]:
    """The tables of all pages, by name, and pages whose numbers have tests of their own."""
    found = {"errata": DOCS["errata"].read_text()}
    for path in DOCS.values():
        for match in MARKED.finditer(path.read_text()):
            found[match[2]] = match[0]
    return found


def quotations(path: Path) -> list[tuple[str, str]]:
    """Numbers of a page's prose, each with the table that it is from: 4.12%<!-- mixtures -->."""
    return QUOTED.findall(path.read_text())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_quoted_numbers_are_in_the_tables_that_they_name(path: Path):
    known, wrong = tables(), []
    quoted = quotations(path)
    assert len(quoted) == len(COMMENT.findall(path.read_text()))  # none is passed over
    for text, table in quoted:
        for number in re.findall(NUMBER, text):
            digits = re.escape(number.removesuffix("%"))
            if not re.search(rf"(?<![\d.,]){digits}(?!\d|\.\d)", known.get(table, "")):
                wrong.append(f"{number} is not in {table}")
    assert not wrong


def test_findings_are_quoted():
    assert len(quotations(ROOT / "README.md")) > 5
    assert len(quotations(DOCS["findings"])) > 15


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_lead_somewhere(path: Path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, heading = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            missing.append(link)
        elif heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            if heading not in map(anchor, headings):
                missing.append(link)
    assert not missing


def words(path: Path) -> int:
    """Without code, comments and the lines of tables."""
    text = re.sub(r"```.*?```|<!--.*?-->", "", path.read_text(), flags=re.S)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def test_pages_are_short():
    lengths = {name: words(path) for name, path in DOCS.items()}
    assert max(lengths.values()) <= 2500, lengths
    assert sum(lengths.values()) < 12_000
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_every_marker_has_an_end():
    for path in DOCS.values():
        text = path.read_text()
        assert MARK.findall(text) == [name for _, name in MARKED.findall(text)], path
