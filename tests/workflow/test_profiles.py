"""What profiles/README.md says of the project's own config."""

import re
from pathlib import Path

import pytest

from .conftest import ROOT, copy_sources

COUNTS = dict(
    re.findall(r"^\| `(fig\w+)` \| (\d+) \|", (ROOT / "profiles/README.md").read_text(), re.M)
)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "figA1", "figA2"])
def test_number_of_training_jobs(tmp_path: Path, figure: str) -> None:
    project = copy_sources(tmp_path / "project")
    assert project.planned(f"figures/{figure}.pdf")["train"] == int(COUNTS[figure])
