"""What the gallery says of figures."""

from __future__ import annotations

import configs
import pytest
from decoupling.plan import gallery


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("One line.\n Another.", "One line."),
        ("Is it so? It is. And more.", "Is it so? It is."),
        ("Figure 2: (a, b) this, (c) that. More", "Figure 2: (a, b) this, (c) that."),
        ("", ""),
    ],
)
def test_a_sentence(caption: str, said: str):
    assert gallery.first_sentence(caption) == said


def test_every_figure_is_in_it_with_its_cost():
    config = configs.read()
    entries = {entry["figure"]: entry for entry in gallery.entries(config)}
    assert set(entries) == set(config.figures)
    assert entries["rates"]["core_minutes"] == 0
    kept = config.archive.trained["laptop"]["figA2b"]["core_minutes"]
    assert entries["figA2b"]["core_minutes"] == round(sum(kept.values()), 1)
    assert all(entry["sentence"] for entry in entries.values())
