"""Engines: how models that see the data in one way are trained and tested.

An engine is a module of this folder, named as the view, with a class ENGINE:

    ENGINE(contexts, device, threads)               contexts of a source, at one n
    array(values), numbers(array)                   NumPy's numbers as the engine's, and back
    data(stream, iteration, recipe)                 what a step sees
    risk_and_gradient(model, data, params, out)     every seed's risk; the gradient goes into `out`
    test(model, params, recipe)                     every seed's test risk
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class TestRisk:
    """Of every seed, [seeds] each."""

    report: np.ndarray
    error: np.ndarray  # the standard error of `report`
    selection: np.ndarray  # what the best seed is chosen by


class DeviceError(RuntimeError):
    """The device that was asked for is not there."""


def load(view: str) -> Any:
    return import_module(f"{__name__}.{view}").ENGINE
