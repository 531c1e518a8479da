"""What the report has in it; how it looks is for tests/system."""

import json
import re

from .conftest import Project


def embedded(project: Project, name: str) -> dict:
    """A variable of the report's page."""
    page = (project.path / "report.html").read_text()
    return json.loads(re.search(rf'<script id="{name}">\s*var {name} = (.*);', page).group(1))


def test_captions_come_from_the_config(done: Project) -> None:
    config = done.config
    config["figures"]["both"] |= {"section": "6 Experiments", "caption": "Look *here*."}
    done.write_config(config)
    done.snakemake("--report", "report.html")
    results = embedded(done, "results")
    assert "Look <em>here</em>." in results["figures/both.png"]["caption"]
    assert "Markers are trained" in results["figures/one.png"]["caption"]
    assert set(embedded(done, "categories")) == {"6 Experiments", "Own settings", "Scoreboard"}


def test_report_of_one_figure(done: Project) -> None:
    done.snakemake("--report", "report.html", "--", "figures/one.pdf")
    assert list(embedded(done, "results")) == ["figures/one.png"]


def test_report_without_figures_section(done: Project) -> None:
    config = done.config
    del config["figures"]
    done.write_config(config)
    done.snakemake("--report", "report.html", "--", "figures/one.pdf")
    assert "setting <tt" in embedded(done, "results")["figures/one.png"]["caption"]
