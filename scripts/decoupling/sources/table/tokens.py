"""Contexts of real rows: tokens drawn from a unit, reproducibly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...problem.scaling import Scaling
from .rows import Unit


@dataclass(frozen=True, eq=False)
class Contexts:
    """Contexts of n tokens and their query, which is last; equally many per unit."""

    x: np.ndarray  # [contexts, n + 1, d]
    y: np.ndarray  # [contexts, n + 1]
    unit: np.ndarray  # position of the unit: [contexts]
    task: np.ndarray  # [contexts]

    @property
    def query(self) -> np.ndarray:
        return self.x[:, -1]

    @property
    def label(self) -> np.ndarray:
        return self.y[:, -1]

    def rescaled(self, scaling: Scaling) -> Contexts:
        """The contexts with Lx for x and sy for y."""
        x, y = self.x @ scaling.features.T, scaling.label * self.y
        return Contexts(x, y, self.unit, self.task)

    @property
    def grams(self) -> np.ndarray:
        """Σ zzᵀ of the context's tokens z = [x; y]: [contexts, D, D]."""
        tokens = np.concatenate([self.x, self.y[..., None]], axis=-1)[:, :-1]
        return tokens.mT @ tokens


def kind_of(block: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether tokens have an intercept, and whether they are differences of rows."""
    return bool(block.get("intercept")), bool(block.get("differences"))


def tokens_of(unit: Unit, intercept: bool) -> np.ndarray:
    """The rows of x as the model sees them, [rows, d]."""
    return np.insert(unit.x, 0, 1.0, axis=1) if intercept else unit.x


def rows_of(unit: Unit, intercept: bool, differences: bool) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a unit's rows for least squares. For differences of rows these are rows about the
    unit's mean, which have the same moments."""
    x, y = tokens_of(unit, intercept), unit.y
    return (x - x.mean(0), y - y.mean()) if differences else (x, y)


def draw(
    rng: np.random.Generator,
    units: Sequence[Unit],
    groups: Sequence[str],
    n: int,
    count: int,
    intercept: bool,
    differences: bool,
) -> Contexts:
    """`count` contexts per unit: different rows in random order, or differences of disjoint pairs
    of rows over √2."""
    xs, ys = [], []
    rows = (n + 1) * (2 if differences else 1)
    for unit in units:
        chosen = rng.random((count, len(unit.y))).argsort(1)[:, :rows]
        x, y = tokens_of(unit, intercept)[chosen], unit.y[chosen]
        if differences:
            x, y = (x[:, ::2] - x[:, 1::2]) / 2**0.5, (y[:, ::2] - y[:, 1::2]) / 2**0.5
        xs.append(x)
        ys.append(y)
    place = {group: k for k, group in enumerate(groups)}
    tasks = [place[unit.group] for unit in units]
    unit = np.repeat(np.arange(len(units)), count)
    return Contexts(np.concatenate(xs), np.concatenate(ys), unit, np.repeat(tasks, count))
