"""Adam, for all seeds at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import adam, compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the usual ones, and torch's


def update(
    theta: Any, first: Any, second: Any, grad: Any, factors: Any, lr: float, steps: int,
    forgetting: float | None = None,
) -> None:  # fmt: skip
    """Step number `steps` (from 1), in place, of NumPy's arrays or torch's.

    `first` and `second` are the running means of the gradient and of its square, zero at first;
    `factors` are the parameters' learning rates as multiples of `lr`. With `forgetting` f the mean
    of squares keeps 1 − t^−f at step t, as Adafactor's, and needs no correction: quick to forget
    the first gradients and slow in the end.
    """
    rate = lr / (1 - BETA1**steps)
    if forgetting is None:
        keep, scale = BETA2, (1 - BETA2**steps) ** -0.5
    else:
        keep, scale = 1 - steps**-forgetting, 1.0
    if isinstance(theta, np.ndarray):
        kernel = compiled(adam.run, theta.itemsize)
        numbers = (theta.dtype.type(x) for x in (BETA1, keep, rate, scale, EPSILON))
        kernel(theta, first, second, grad, factors, *numbers)
        return
    first.lerp_(grad, 1 - BETA1)
    second.mul_(keep).addcmul_(grad, grad, value=1 - keep)
    theta.sub_(first * (rate * factors) / (second.sqrt() * scale + EPSILON))
