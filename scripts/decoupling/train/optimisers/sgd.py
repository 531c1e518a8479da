"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STATE = ("velocity",)
KEYS = {
    "momentum": {
        "description": "Share of a step that SGD adds to the next; 0.9 is the default",
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
    }
}


def update(
    theta: Any, state: Mapping[str, Any], grad: Any, rates: Any, lr: float, step: int, *,
    momentum: float = 0.9,
) -> None:  # fmt: skip
    velocity = state["velocity"]
    velocity *= momentum
    velocity += grad
    theta -= lr * rates * velocity
