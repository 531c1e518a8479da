"""A step of Adam in one pass; see `train.optimisers.adam`."""

from __future__ import annotations

import numpy as np


def run(theta, first, second, grad, rates, keep, keep_square, rate, scale, epsilon):
    """Arrays [seeds, parameters] are changed in place. Entry i has the learning rate
    `rates`ᵢ·`rate`; `rate` has the first mean's bias correction, and `scale` the second's."""
    for s in range(len(theta)):
        for i in range(theta.shape[1]):
            g = grad[s, i]
            mean = first[s, i] * keep + (1 - keep) * g
            square = second[s, i] * keep_square + (1 - keep_square) * (g * g)
            first[s, i] = mean
            second[s, i] = square
            theta[s, i] -= mean * (rates[0, i] * rate) / (np.sqrt(square) * scale + epsilon)
