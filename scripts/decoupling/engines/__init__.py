"""Engines: how models that see the data in one way are trained and tested.

A view has a module of its name in this folder. What it has as ENGINE makes the engine:

    ENGINE(contexts, device, threads)               contexts of a source, at one n
    array(values), numbers(array)                   NumPy's numbers as the engine's, and back
    data(stream, iteration, recipe)                 what a step sees
    risk_and_gradient(model, data, params, out)     every seed's risk; the gradient goes into `out`
    test(trained, count)                            the test risk of every seed of each (model,
                                                    params), on `count` contexts if not exact
    held_out(stream, index, size)                   held-out contexts, `chunk` at a time
    errors(model, params, batch)                    of every seed on every context of a batch, times
                                                    the context's weight
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from .memory import keep_freed_memory


@dataclass(frozen=True, eq=False)
class TestRisk:
    """Of every seed, [seeds] each."""

    report: np.ndarray
    error: np.ndarray  # the standard error of `report`
    selection: np.ndarray  # what the best seed is chosen by
    tail: np.ndarray | None = None  # share of it that few contexts make up; None if it is exact


HELD_OUT = 65_536  # contexts at a time where the risk is estimated
TAIL = 0.001  # of the held-out contexts


def tail_share(errors: np.ndarray) -> np.ndarray:
    """The share that the largest TAIL of errors have in their sum, [seeds, B] to [seeds]."""
    few = max(1, round(TAIL * errors.shape[1]))
    largest = np.partition(errors, -few, axis=1)[:, -few:]
    return largest.sum(1, dtype=float) / errors.sum(1, dtype=float)


def weighted(errors: np.ndarray, batch: Any) -> np.ndarray:
    """Errors of contexts, [seeds, B], times their weights, if the batch has any."""
    weights = getattr(batch, "weights", None)
    return errors if weights is None else errors * np.concatenate(weights)


class DeviceError(RuntimeError):
    """The device that was asked for is not there."""


def load(view: str) -> Any:
    keep_freed_memory()
    return import_module(f"{__name__}.{view}").ENGINE
