"""A mixture estimated from weighted units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...problem.mixture import TaskMixture
from .random_effects import TOLERANCE, Effects, Sums, fit
from .rows import Unit
from .tokens import rows_of

DECIMALS = 9  # of the mixture's numbers, which random streams depend on; further digits are noise


@dataclass(frozen=True, eq=False)
class Estimate:
    mix: TaskMixture
    label_power: float  # E[y²], measured
    effects: Effects

    @property
    def gate(self) -> float:
        """E[y²] of the mixture over that of the data."""
        return self.mix.label_power / self.label_power


def sums_of(
    units: Sequence[Unit], groups: Sequence[str], intercept: bool, differences: bool
) -> list[Sums]:
    """Sums of each group's units, in their order, with weight 1."""
    found: dict[str, list[tuple]] = {group: [] for group in groups}
    for unit in units:
        x, y = rows_of(unit, intercept, differences)
        own = (x.T @ x, x.T @ y, y @ y, len(y) - differences, 1.0)
        found[unit.group].append(own)
    return [Sums(*(np.array(part) for part in zip(*own, strict=True))) for own in found.values()]


def estimate(
    name: str,
    sums: Sequence[Sums],
    start: Effects | None = None,
    tolerance: float = TOLERANCE,
) -> Estimate:
    """The mixture by random effects. `start` is the fit at similar weights.

    REML's correction for the estimated mean counts the units of a group, whatever the sum of their
    weights.
    """
    effects = fit([_of_mean_one(group) for group in sums], start, tolerance)
    shares = np.array([group.weight.sum() for group in sums])
    gram, power, freedom, weight = (
        np.concatenate([getattr(group, key) for group in sums])
        for key in ("gram", "power", "freedom", "weight")
    )
    share = weight / weight.sum()
    sigma_x = np.tensordot(share / freedom, gram, 1)
    estimates = effects.means, effects.covs, sigma_x
    rounded = (np.round(array, DECIMALS) for array in estimates)
    noise = round(effects.noise_var, DECIMALS)
    mix = TaskMixture(name, shares / shares.sum(), *rounded, noise)
    return Estimate(mix, float(share @ (power / freedom)), effects)


def _of_mean_one(group: Sums) -> Sums:
    return replace(group, weight=group.weight / group.weight.mean())
