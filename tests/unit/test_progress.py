"""What is said of training while it runs."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from decoupling.train import progress


@pytest.mark.parametrize("watched", [True, False])
def test_a_terminal_has_a_line_a_minute_and_a_file_none(
    watched: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
    caplog: pytest.LogCaptureFixture,
):
    """The log has one every ten seconds, and the last."""
    caplog.set_level(logging.INFO)
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: watched)
    state = SimpleNamespace(run=SimpleNamespace(key="attention/2/joint"), risk_unit=2.0)
    shown = progress.Progress("figA2b n=10 gram, training", 0)
    for second in range(1, 136):
        clock.now = float(second)
        shown.show(second * 10, 1350, [state], [np.array([np.nan, 0.25, 0.75])])
    lines = caplog.messages
    assert len(lines) == 14
    assert lines[5].startswith("figA2b n=10 gram, training: 600/1350, best/median risk")
    assert lines[-1].endswith("attention/2/joint 0.5000/1.0000, 10 it/s, ETA 0 s")
    told = capsys.readouterr().out.splitlines()
    text = "figA2b n=10 gram, training: 44%, ETA 1.2 min, best risk attention/2/joint 0.5000"
    assert told == ([text, text.replace("44%, ETA 1.2", "89%, ETA 0.2")] if watched else [])
