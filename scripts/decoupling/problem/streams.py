"""Numbered random streams, so that every batch can be drawn again from its numbers.

A stream belongs to the numbers of a mixture (not to its name), to n and to a purpose; it is a
sequence of generators, one per batch. The numbers of the purposes are part of the results: new ones
are added, none is changed (7 is no longer used).
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from .mixture import TaskMixture


class Stream(IntEnum):
    """The purposes of random contexts."""

    TRAINING = 1  # batches of the arms that train the weights; all models, depths, seeds share them
    FINE_TUNING = 2  # batches of the arms that start from a finished `plain`
    SELECTION = 3  # held-out contexts on which the best seed is chosen
    REPORT = 4  # held-out contexts on which its risk is reported
    BAYES = 5  # contexts of the Bayes-optimal predictor
    IDENTITY = 6  # contexts whose task is told, inferred or told wrong
    DESIGN = 8  # rows of a table whose moments the theorems need


def generator(mix: TaskMixture, n: int, stream: int, index: int = 0) -> np.random.Generator:
    """The random numbers of batch `index`, from NumPy on the CPU whatever the device."""
    entropy = [int(mix.fingerprint, 16), n, int(stream), index]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))
