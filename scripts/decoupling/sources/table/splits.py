"""Folds of units, and how rows are standardised, by the training units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import InputError
from . import FOLDS
from .rows import Unit, Units, standstill
from .tokens import kind_of, rows_of

DEPENDENT = 1e-8  # least singular value over the largest; their squares are those of XᵀX


@dataclass(frozen=True, eq=False)
class Split:
    training: list[Unit]
    held_out: list[Unit]


def check_folds(units: Units, block: Mapping[str, Any]) -> None:
    """Check that every fold leaves two training units of every group."""
    folds, clusters = block.get("folds", FOLDS), {unit.cluster for unit in units.kept}
    what = block.get("fold_by", block["unit"])
    text = None
    if folds < 2:
        text = f"is {folds}; use 2 or more, as one part is held out and the rest trained on"
    elif folds > len(clusters):
        text = f"is {folds}, but the column {what} has {len(clusters)} values; use fewer"
    else:
        for fold in range(folds):
            made = split(units.kept, folds, fold)
            names = [unit.group for unit in made.training]
            few = [group for group in units.groups if names.count(group) < 2]
            if few:
                text = f"without fold {fold}, fewer than 2 units of {few[0]!r} are left to train on"
                text += "; use more folds, or leave its rows out"
                break
            _check_spread(units, block, made.training)
            _check_rank(units, block, made.training)
    if text:
        raise InputError([f"{units.path}.folds: {text}"])


def _check_spread(units: Units, block: Mapping[str, Any], training: Sequence[Unit]) -> None:
    """Check that every column varies in every group, as it is divided by its deviation."""
    within = bool(block.get("differences"))
    columns = [("features", name, i) for i, name in enumerate(block["features"])]
    for key, name, i in [*columns, ("target", block["target"], None)]:
        column = [unit.y if i is None else unit.x[:, i] for unit in training]
        for group in units.groups:
            own = [part for part, unit in zip(column, training, strict=True) if unit.group == group]
            place = f" in the training units of group {group!r}"
            text = standstill(name, own, column, within, place)
            if text:
                fix = "name another" if i is None else "remove it"
                raise InputError([f"{units.path}.{key}: {text}; {fix}"])


def _check_rank(units: Units, block: Mapping[str, Any], training: Sequence[Unit]) -> None:
    """Check that least squares has one solution in every group, and leaves residuals."""
    kind = kind_of(block)
    scale = Scale.of(training, kind[1])
    left = 0.0
    for group in units.groups:
        own = [rows_of(scale.apply(unit), *kind) for unit in training if unit.group == group]
        x, y = (np.concatenate(part) for part in zip(*own, strict=True))
        if np.linalg.matrix_rank(x, rtol=DEPENDENT) < x.shape[1]:
            text = f"are linearly dependent in the training units of group {group!r}; remove one"
            raise InputError([f"{units.path}.features: {text}"])
        left = max(left, np.abs(y - x @ np.linalg.lstsq(x, y)[0]).max())
    if left < DEPENDENT:
        text = f"{block['target']!r} is a linear function of the features, the same in all units"
        raise InputError([f"{units.path}.target: {text} of a group; name another"])


def split(units: Sequence[Unit], folds: int, fold: int) -> Split:
    """The split of a fold; clusters are dealt to folds in an order that depends on their number."""
    clusters = sorted({unit.cluster for unit in units})
    order = np.random.default_rng([len(clusters), folds]).permutation(len(clusters))
    out = {clusters[place] for place in order[fold::folds]}
    return Split(
        [unit for unit in units if unit.cluster not in out],
        [unit for unit in units if unit.cluster in out],
    )


@dataclass(frozen=True, eq=False)
class Scale:
    """Standardises x and y: subtracts their means over all rows, and divides by their standard
    deviations in the group (within units, if tokens are differences of rows)."""

    x_mean: np.ndarray  # [features]
    y_mean: float
    x_sd: dict[str, np.ndarray]  # by group
    y_sd: dict[str, float]

    @classmethod
    def of(cls, units: Sequence[Unit], differences: bool) -> Scale:
        x, y = np.concatenate([u.x for u in units]), np.concatenate([u.y for u in units])
        groups: dict[str, list[Unit]] = {}
        for unit in units:
            groups.setdefault(unit.group, []).append(unit)
        x_sd = {name: _deviation([u.x for u in own], differences) for name, own in groups.items()}
        y_sd = {name: _deviation([u.y for u in own], differences) for name, own in groups.items()}
        return cls(x.mean(0), float(y.mean()), x_sd, {name: float(sd) for name, sd in y_sd.items()})

    def apply(self, unit: Unit) -> Unit:
        x = (unit.x - self.x_mean) / self.x_sd[unit.group]
        return replace(unit, x=x, y=(unit.y - self.y_mean) / self.y_sd[unit.group])

    def to_dict(self) -> dict[str, Any]:
        x_sd = {name: sd.tolist() for name, sd in self.x_sd.items()}
        means = {"x_mean": self.x_mean.tolist(), "y_mean": self.y_mean}
        return {**means, "x_sd": x_sd, "y_sd": self.y_sd}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Scale:
        x_sd = {name: np.array(sd) for name, sd in fields["x_sd"].items()}
        return cls(np.array(fields["x_mean"]), fields["y_mean"], x_sd, fields["y_sd"])


def _deviation(parts: Sequence[np.ndarray], within: bool) -> np.ndarray:
    """The standard deviation of rows about their mean, or about their unit's mean."""
    if within:
        squares = sum(((part - part.mean(0)) ** 2).sum(0) for part in parts)
        return np.sqrt(squares / sum(len(part) - 1 for part in parts))
    return np.concatenate(parts).std(0)
