"""The spec of a fold: the training units as a task mixture, and how to draw their contexts."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...problem.feature_moments import FeatureMoments
from ...problem.mixture import TaskMixture
from ...problem.streams import Stream, generator
from . import CONTEXTS_PER_UNIT, owning_setting
from .estimate import Estimate, estimate, sums_of
from .rows import Unit, Units, read_units
from .splits import Scale, Split, check_folds, split
from .tokens import Contexts, draw, kind_of

log = logging.getLogger(__name__)

DESIGN_CONTEXTS = 100  # per unit, for the moments of x


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold's mixture, by random effects of its training units, and the units themselves."""

    mix: TaskMixture
    groups: list[str]
    training: list[Unit]  # standardised, as the held-out ones
    held_out: list[Unit]
    intercept: bool
    differences: bool
    longest: int  # n
    label_power: float  # E[y²] of the training units

    @property
    def gate(self) -> float:
        """E[y²] of the mixture over that of the data."""
        return self.mix.label_power / self.label_power

    @property
    def clusters(self) -> list[str]:
        """The clusters of all units, by name."""
        return sorted({unit.cluster for unit in [*self.training, *self.held_out]})

    def training_contexts(self, n: int) -> Contexts:
        return self._draw(Stream.TRAINING, self.training, n)

    def held_out_contexts(self, n: int) -> Contexts:
        return self._draw(Stream.REPORT, self.held_out, n)

    def moment_contexts(self) -> Contexts:
        """Contexts of the training units at the longest n, for the moments of x."""
        return self._draw(Stream.DESIGN, self.training, self.longest, DESIGN_CONTEXTS)

    def _draw(
        self, stream: Stream, units: Sequence[Unit], n: int, count: int = CONTEXTS_PER_UNIT
    ) -> Contexts:
        rng = generator(self.mix, n, stream)
        return draw(rng, units, self.groups, n, count, self.intercept, self.differences)


def make_spec(name: str, block: Mapping[str, Any], longest: int) -> str:
    """The spec's text, or InputError with a line for every problem of the table."""
    base = owning_setting(name)
    units = read_units(f"settings.{base}", block, longest)
    check_folds(units, block)
    _say_what_is_left(units, base)
    made, kind = split(units.kept, block["folds"], block["fold"]), kind_of(block)
    scale = Scale.of(made.training, kind[1])
    made = _scaled(made, scale)
    found = estimate(name, sums_of(made.training, units.groups, *kind))
    _say_how_it_converged(name, found)
    common = units.groups, made.training, made.held_out, *kind, longest
    fold = Fold(found.mix, *common, found.label_power)
    log.info(
        "%s: E[y²] is %.4f by the mixture, %.4f measured",
        *(name, found.mix.label_power, found.label_power),
    )
    extra = {
        "label_power": found.label_power,
        "groups": units.groups,
        "design": FeatureMoments.measured(fold.moment_contexts().x).to_dict(),
        "scale": scale.to_dict(),
        "block": {key: value for key, value in block.items() if key != "table"},
        "longest": longest,
        "units": {"kept": len(units.kept), "total": units.total, "rows": units.rows_needed},
        "training": [[unit.group, unit.name] for unit in made.training],
        "held_out": [[unit.group, unit.name] for unit in made.held_out],
    }
    return json.dumps(json.loads(fold.mix.to_json()) | {"table": extra}, indent=1) + "\n"


def read_fold(text: str, table: str) -> Fold:
    """A fold, from its spec and the table."""
    fields = json.loads(text)
    extra = fields["table"]
    block, base = extra["block"] | {"table": table}, owning_setting(fields["name"])
    units = read_units(f"settings.{base}", block, extra["longest"])
    made = split(units.kept, block["folds"], block["fold"])
    made = _scaled(made, Scale.from_dict(extra["scale"]))
    common = extra["groups"], made.training, made.held_out, *kind_of(block), extra["longest"]
    return Fold(TaskMixture.from_json(text), *common, extra["label_power"])


def _scaled(made: Split, scale: Scale) -> Split:
    return Split(*([scale.apply(unit) for unit in units] for units in vars(made).values()))


def _say_how_it_converged(name: str, found: Estimate) -> None:
    effects = found.effects
    if effects.converged:
        log.info("%s: REML in %d steps", name, effects.steps)
    else:
        log.warning("%s: REML has not converged in %d steps", name, effects.steps)


def _say_what_is_left(units: Units, base: str) -> None:
    dropped = units.total - len(units.kept)
    if dropped:
        text = "%s: %d of %d units are left out, as they have fewer than %d rows"
        log.info(text, base, dropped, units.total, units.rows_needed)
