"""The progress of training: a line in the log now and then, and fewer on a terminal."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Sequence

import numpy as np

from .state import TrainState

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10
WATCHED_SECONDS = 60  # between lines on a terminal, which jobs share


class Progress:
    """The progress of one stage: lines in the log, which is a file, and fewer on standard output if
    that is a terminal."""

    def __init__(self, name: str, first: int) -> None:
        self.name, self.first = name, first
        self.started = self.shown = self.told = time.monotonic()

    def show(
        self, done: int, iterations: int, states: Sequence[TrainState], risks: Sequence[np.ndarray]
    ) -> None:
        now = time.monotonic()
        if now - self.shown < HEARTBEAT_SECONDS and done != iterations:
            return
        self.shown = now
        rate = (done - self.first) / (now - self.started)
        left = (iterations - done) / rate
        values = {
            state.run.key: state.risk_unit * risk for state, risk in zip(states, risks, strict=True)
        }
        both = ", ".join(f"{key} {_best(v):.4f}/{_median(v):.4f}" for key, v in values.items())
        log.info(
            "%s: %d/%d, best/median risk %s, %.0f it/s, ETA %.0f s",
            self.name, done, iterations, both, rate, left,
        )  # fmt: skip
        if now - self.told >= WATCHED_SECONDS and sys.stdout.isatty():
            self.told = now
            best = ", ".join(f"{key} {_best(v):.4f}" for key, v in values.items())
            share = f"{done / iterations:.0%}, ETA {left / 60:.1f} min"
            print(f"{self.name}: {share}, best risk {best}", flush=True)


def _best(values: np.ndarray) -> float:
    return float(np.nan_to_num(values, nan=np.inf).min())


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan
