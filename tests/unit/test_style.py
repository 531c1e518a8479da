"""What every figure shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoupling.figures import style


@pytest.mark.parametrize("where", ["title", "legend", "nothing"])
def test_what_does_not_fit_is_said(where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    words = {"title": "title", "legend": "line"} | {where: "word " * 40}
    style.use_style()  # files have a resolution of their own
    note = "Protocol laptop: best of 50 seeds, exact gradient, 20,000 iterations"
    figure, body = style.framed(*style.PANEL_SIZE, [style.line_key("-", words["legend"])], note)
    body.subplots()
    body.suptitle(words["title"])
    style.save(figure, tmp_path / "a.pdf", tmp_path / "a.png")
    said = [record.message for record in caplog.records]
    assert len(said) == (where != "nothing")
    assert all("a.pdf: 'word word" in message for message in said)


@pytest.mark.parametrize("words", [1, 7, 30, 45])
def test_small_print_leaves_no_word_alone(words: int):
    lines = style.balanced(" ".join(f"word{i}" for i in range(words)), 70).splitlines()
    assert max(map(len, lines)) <= 70
    assert len(lines) == 1 or min(map(len, lines)) > 0.7 * max(map(len, lines))
