"""The report in a real browser: opened from disk, clicked through, nothing in the console."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from workflow.conftest import Project, copy_sources, tiny_config

from .browser import Browser

SECTION = "6 Experiments"
CAPTION = "Compare solid with dashed."
DISPLAYED = "document.querySelector('.p-3 > img')"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = copy_sources(tmp_path_factory.mktemp("report") / "project")
    config = tiny_config()
    config["figures"]["both"] |= {"section": SECTION, "caption": CAPTION}
    made.write_config(config)
    made.snakemake("--report-after-run", "--report", "report.html")
    made.snakemake("--report", "report.zip")
    return made


@pytest.fixture(params=["html", "zip"])
def page(request: pytest.FixtureRequest, project: Project, browser: Browser) -> Iterator[Browser]:
    """The browser at the report, as one file or unpacked; it leaves without a complaint."""
    where = project.path / "report.html"
    if request.param == "zip":
        with zipfile.ZipFile(project.path / "report.zip") as archive:
            archive.extractall(project.path / "unpacked")
        where = project.path / "unpacked/report/report.html"
    browser.open(where)
    browser.wait_for("document.querySelectorAll('nav li').length > 0")
    yield browser
    browser.screenshot(_screenshot(request, project.path))
    assert browser.errors() == []


def test_first_page_describes_the_study(page: Browser) -> None:
    page.wait_for("Boolean(document.querySelector('#rulegraph canvas'))")
    assert "Theorem 4" in page.run("return document.querySelector('.prose').innerText")
    assert page.run("return document.querySelector('h1.title').getBoundingClientRect().top") > 0


def test_first_page_links_to_the_explorer_beside_it(project: Project, browser: Browser) -> None:
    browser.open(project.path / "report.html")
    browser.click(".prose a", "explorer.html")
    browser.wait_for("document.querySelector('#plot .scatterlayer .trace') !== null")
    assert browser.run("return location.pathname") == str(project.path / "explorer.html")
    assert browser.errors() == []


def test_figures_are_grouped_by_section(page: Browser) -> None:
    menu = page.run("return [...document.querySelectorAll('nav li a')].map(a => a.innerText)")
    assert [item for item in menu if item][-3:] == [SECTION, "Own settings", "Scoreboard"]


@pytest.mark.parametrize(
    ("section", "figure"),
    [(SECTION, "both"), ("Own settings", "over"), ("Scoreboard", "Heat map")],
)
def test_figure_is_displayed_whole(page: Browser, section: str, figure: str) -> None:
    _show(page, section, figure)
    page.wait_for(f"Boolean({DISPLAYED}) && {DISPLAYED}.naturalWidth > 0")
    box = page.run(f"return {DISPLAYED}.getBoundingClientRect()")
    assert box["width"] > 100
    assert box["top"] >= 0
    assert box["bottom"] <= page.run("return window.innerHeight")


def test_caption_says_what_to_see_and_how_it_was_made(page: Browser) -> None:
    _show(page, SECTION, "both", button=1)
    text = page.wait_for("document.querySelector('nav .prose')?.innerText")
    for part in (CAPTION, "Protocol smoke: ", "rule figure", "setting one", "setting two"):
        assert part in text


def test_scoreboard_is_a_table(page: Browser) -> None:
    _show(page, "Scoreboard", "Table")
    with page.frame():
        rows = page.wait_for("[...document.querySelectorAll('tr')].map(row => row.innerText)")
    assert any(row.startswith("one\tattention\t1\tplain") for row in rows)


def test_runtimes_are_drawn(page: Browser) -> None:
    page.click("nav a", "Statistics")
    assert page.wait_for("document.querySelector('#runtimes canvas')?.width") > 100


def _show(page: Browser, section: str, figure: str, button: int = 0) -> None:
    """Press a figure's first button, the eye, or its second, the information."""
    page.click("nav a", section)
    page.click("nav tbody tr", figure, f".querySelectorAll('a')[{button}]")


def _screenshot(request: pytest.FixtureRequest, folder: Path) -> Path:
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)
    return folder / f"{name}.png"
