"""Adam, for all seeds at once. Arrays may be NumPy's or torch's: only operators are used."""

from __future__ import annotations

from typing import Any

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the usual ones, and torch's


def update(theta: Any, first: Any, second: Any, grad: Any, rates: Any, steps: int) -> None:
    """Step number `steps` (from 1), in place.

    `first` and `second` are the running means of the gradient and of its square, zero at first;
    `rates` is the learning rate of every parameter.
    """
    first *= BETA1
    first += (1 - BETA1) * grad
    second *= BETA2
    second += (1 - BETA2) * (grad * grad)
    spread = second**0.5
    spread *= (1 - BETA2**steps) ** -0.5
    spread += EPSILON
    theta -= first * (rates / (1 - BETA1**steps)) / spread
