"""The shipped config, drawn from the archive in clean sources: everything, without training."""

import json

import numpy as np
import pytest
from PIL import Image

from .conftest import ROOT, Project

pytestmark = pytest.mark.slow
SEEN = 48  # of 255 levels
FEW = 1e-4  # of the pixels: where rounding moves the edge of a line


def test_nothing_is_trained(drawn: Project) -> None:
    assert {path.name for path in (drawn.path / "data").iterdir()} == {
        *("archive", "archived", "published", "specs", "theory")
    }
    for name in ("fig2c", "figA2", "softmax", "real"):
        assert (
            json.loads((drawn.path / f"figures/{name}.json").read_text())["results"] == "archived"
        )
    assert (drawn.path / "explorer.html").exists()


def test_the_committed_gallery_is_what_is_drawn(drawn: Project) -> None:
    """After a change: make gallery."""
    committed, today = ROOT / "docs", drawn.path / "docs"
    assert (today / "gallery.md").read_text() == (committed / "gallery.md").read_text()
    stale = []
    for path in sorted(today.glob("gallery/*.png")):
        pair = [
            np.asarray(Image.open(f).convert("RGB"), int)
            for f in (path, committed / "gallery" / path.name)
        ]
        same = pair[0].shape == pair[1].shape
        if not same or (abs(pair[0] - pair[1]).max(-1) > SEEN).mean() > FEW:
            stale.append(path.stem)
    assert stale == []
