"""Adam: the running mean of the gradient over the root of that of its square."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the usual ones, and torch's

STATE = ("first", "second")  # the two means
KEYS = {
    "beta2_decay": {
        "description": "f, where Adam's mean of squares keeps 1 − t^−f of itself at step t instead"
        f" of {BETA2}",
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
    }
}


def update(
    theta: Any, state: Mapping[str, Any], grad: Any, rates: Any, lr: float, step: int, *,
    beta2_decay: float | None = None,
) -> None:  # fmt: skip
    """`beta2_decay` is the exponent of Adafactor's β₂ without its sign. With it the mean of squares
    forgets the first gradients quickly and later ones slowly, and needs no correction."""
    first, second = state["first"], state["second"]
    rate = lr / (1 - BETA1**step)
    if beta2_decay is None:
        keep, scale = BETA2, (1 - BETA2**step) ** -0.5
    else:
        keep, scale = 1 - step**-beta2_decay, 1.0
    if isinstance(theta, np.ndarray):
        numbers = (theta.dtype.type(x) for x in (BETA1, keep, rate, scale, EPSILON))
        _kernel(theta.itemsize)(theta, first, second, grad, rates, *numbers)
        return
    first.lerp_(grad, 1 - BETA1)
    second.mul_(keep).addcmul_(grad, grad, value=1 - keep)
    theta.sub_(first * (rate * rates) / (second.sqrt() * scale + EPSILON))


@cache
def _kernel(itemsize: int) -> Callable:
    from ...kernels import adam, compiled  # Numba takes a second, and the workflow needs KEYS alone

    return compiled(adam.run, itemsize)
