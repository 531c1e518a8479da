"""The spec of a fold: the training units as a task mixture, and how to draw their contexts."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...problem.design import Design
from ...problem.mixture import TaskMixture
from ...problem.streams import Stream, generator
from . import CONTEXTS_PER_UNIT
from .random_effects import Effects, Sums, fit
from .rows import Unit, Units, read_units
from .splits import Scale, Split, check_folds, split
from .tokens import Contexts, draw, kind_of, rows_of

log = logging.getLogger(__name__)

DESIGN_CONTEXTS = 100  # of every unit, for the moments of x


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold's mixture, by random effects of its training units, and the units themselves."""

    mix: TaskMixture
    groups: list[str]
    training: list[Unit]  # standardised, as are those held out
    held_out: list[Unit]
    intercept: bool
    differences: bool

    def training_contexts(self, n: int) -> Contexts:
        return self._draw(Stream.TRAINING, self.training, n)

    def held_out_contexts(self, n: int) -> Contexts:
        return self._draw(Stream.REPORT, self.held_out, n)

    def _draw(self, stream: Stream, units: Sequence[Unit], n: int) -> Contexts:
        rng = generator(self.mix, n, stream)
        kind = self.intercept, self.differences
        return draw(rng, units, self.groups, n, CONTEXTS_PER_UNIT, *kind)


def make_spec(name: str, block: Mapping[str, Any], longest: int) -> str:
    """The spec's text, or BadTableError with a line for every problem of the table."""
    base = name.rpartition(".fold")[0]
    units = read_units(f"settings.{base}", block, longest)
    check_folds(units, block)
    _say_what_is_left(units, base)
    made, kind = split(units.kept, block["folds"], block["fold"]), kind_of(block)
    scale = Scale.of(made.training, kind[1])
    training = _scaled(made, scale).training
    mix, power = _mixture(name, training, units.groups, *kind)
    rng = generator(mix, longest, Stream.DESIGN)
    contexts = draw(rng, training, units.groups, longest, DESIGN_CONTEXTS, *kind)
    log.info("%s: E[y²] is %.4f by the mixture, %.4f measured", name, mix.label_power, power)
    extra = {
        "label_power": power,
        "groups": units.groups,
        "design": Design.measured(contexts.x).to_dict(),
        "scale": scale.to_dict(),
        "block": {key: value for key, value in block.items() if key != "table"},
        "longest": longest,
        "units": {"kept": len(units.kept), "total": units.total, "rows": units.rows_needed},
        "training": [[unit.group, unit.name] for unit in made.training],
        "held_out": [[unit.group, unit.name] for unit in made.held_out],
    }
    return json.dumps(json.loads(mix.to_json()) | {"table": extra}, indent=1) + "\n"


def read_fold(text: str, table: str) -> Fold:
    """A fold of its spec and the table."""
    fields = json.loads(text)
    extra = fields["table"]
    block, base = extra["block"] | {"table": table}, fields["name"].rpartition(".fold")[0]
    units = read_units(f"settings.{base}", block, extra["longest"])
    made = split(units.kept, block["folds"], block["fold"])
    made = _scaled(made, Scale.from_dict(extra["scale"]))
    mix, groups = TaskMixture.from_json(text), extra["groups"]
    return Fold(mix, groups, made.training, made.held_out, *kind_of(block))


def _scaled(made: Split, scale: Scale) -> Split:
    return Split(*([scale.apply(unit) for unit in units] for units in vars(made).values()))


def _mixture(
    name: str, units: Sequence[Unit], groups: Sequence[str], intercept: bool, differences: bool
) -> tuple[TaskMixture, float]:
    """Random effects of the units, all counted alike; and E[y²], measured."""
    by_group = [[unit for unit in units if unit.group == group] for group in groups]
    sums = [_sums(own, intercept, differences) for own in by_group]
    effects = fit(sums)
    counts = np.array([len(group.power) for group in sums])
    gram, power, freedom = (
        np.concatenate([getattr(group, key) for group in sums])
        for key in ("gram", "power", "freedom")
    )
    sigma_x = (gram / freedom[:, None, None]).mean(0)
    _say_how_it_converged(name, effects)
    mix = TaskMixture(
        name, counts / counts.sum(), effects.means, effects.covs, sigma_x, effects.noise_var
    )
    return mix, float((power / freedom).mean())


def _sums(units: Sequence[Unit], intercept: bool, differences: bool) -> Sums:
    found = []
    for unit in units:
        x, y = rows_of(unit, intercept, differences)
        found.append((x.T @ x, x.T @ y, y @ y, len(y) - differences))
    return Sums(*(np.array(part) for part in zip(*found, strict=True)))


def _say_how_it_converged(name: str, effects: Effects) -> None:
    if effects.converged:
        log.info("%s: REML by EM in %d steps", name, effects.steps)
    else:
        log.warning("%s: REML by EM has not converged in %d steps", name, effects.steps)


def _say_what_is_left(units: Units, base: str) -> None:
    dropped = units.total - len(units.kept)
    if dropped:
        text = "%s: %d of %d units are left out, as they have fewer than %d rows"
        log.info(text, base, dropped, units.total, units.rows_needed)
