"""Adam, for all seeds at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import adam, compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the usual ones, and torch's


def update(
    theta: Any, first: Any, second: Any, grad: Any, factors: Any, lr: float, steps: int
) -> None:
    """Step number `steps` (from 1), in place, of NumPy's arrays or torch's.

    `first` and `second` are the running means of the gradient and of its square, zero at first;
    `factors` are the parameters' learning rates as multiples of `lr`.
    """
    rate, scale = lr / (1 - BETA1**steps), (1 - BETA2**steps) ** -0.5
    if isinstance(theta, np.ndarray):
        kernel = compiled(adam.run, theta.itemsize)
        numbers = (theta.dtype.type(x) for x in (BETA1, BETA2, rate, scale, EPSILON))
        kernel(theta, first, second, grad, factors, *numbers)
        return
    first.lerp_(grad, 1 - BETA1)
    second.mul_(BETA2).addcmul_(grad, grad, value=1 - BETA2)
    theta.sub_(first * (rate * factors) / (second.sqrt() * scale + EPSILON))
