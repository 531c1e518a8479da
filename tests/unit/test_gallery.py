"""What the gallery says of figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import configs
import pytest
from decoupling.plan import gallery

DOCS = configs.ROOT / "docs"
LONG = "And so on" * 10


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        (f"{LONG}.\n Another.", f"{LONG}."),
        (f"Is\n it so? {LONG}. And more.", f"Is it so? {LONG}."),
        (f"Figure 2(a). With (b) this, (c) that. {LONG}.", None),
        ("One line.", "One line."),
        ("", ""),
    ],
)
def test_a_sentence_is_added_to_short_ones(caption: str, said: str | None):
    assert gallery.first_sentences(caption) == (caption if said is None else said)


def test_every_figure_is_in_it_with_its_cost():
    config = configs.read()
    entries = {entry["figure"]: entry for entry in gallery.entries(config)}
    assert set(entries) == set(config.figures)
    assert entries["rates"]["core_minutes"] == 0
    kept = config.archive.trained["laptop"]["figA2b"]["core_minutes"]
    assert entries["figA2b"]["core_minutes"] == round(sum(kept.values()), 1)
    assert entries["scoreboard"]["core_minutes"] > entries["figA2"]["core_minutes"]
    assert all(entry["sentence"] for entry in entries.values())


def test_the_committed_page_is_what_the_config_and_the_archive_say(tmp_path: Path):
    """After a change: make gallery. That its pictures are today's is a slow test."""
    config = configs.read()
    pictures = {path.stem: path.stat().st_size for path in DOCS.glob("gallery/*")}
    assert set(pictures) == set(config.figures)
    assert sum(pictures.values()) < 5e6
    page = tmp_path / "gallery.md"
    command = [sys.executable, configs.ROOT / "scripts/gallery.py", "--protocol", "laptop"]
    command += ["--figures", DOCS / "gallery/fig2c.png", "--pictures", tmp_path / "gallery"]
    said = json.dumps(gallery.entries(config))
    subprocess.run([*command, "--output", page], input=said, text=True, check=True)
    assert page.read_text() == (DOCS / "gallery.md").read_text()
