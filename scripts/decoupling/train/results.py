"""Rows of a finished run: every seed with its test risk, and the parameters of the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..engines.base import RiskEstimate
from .convergence import descent_left
from .recipe import Run
from .state import TrainState

UNTESTED = {"risk": math.nan, "risk_se": math.nan, "selection_risk": math.nan, "tail_share": None}
Row = dict[str, Any]


def seed_rows(
    point: Mapping[str, Any],
    state: TrainState,
    test: RiskEstimate,
    seeds: Sequence[int],
    plain: TrainState | None,
) -> Iterator[Row]:
    """A row per seed, also of those that were stopped, or never started because `plain`, from which
    fine-tuning starts, lost them."""
    tested = dict(zip(state.running.tolist(), test.by_seed(), strict=True))
    places = {seed: place for place, seed in enumerate(state.seeds)}
    best = state.best(test)
    left = {} if best is None else {state.running[best]: descent_left(state, best)}
    for seed in seeds:
        place = places.get(seed)
        if place is None:
            lost = plain.diverged_at[plain.seeds.index(seed)]
            stopped, diverged = 0, min(lost, 0)
        else:
            stopped, diverged = state.stopped_at[place], state.diverged_at[place]
        risks = tested.get(place, UNTESTED)
        yield {
            **point,
            "seed": seed,
            **risks,
            "iterations": _last_iteration(state.run, stopped, diverged),
            "status": _status(stopped, diverged, risks["risk"]),
            "descent_left": left.get(place, math.nan),
        }


def parameter_rows(
    point: Mapping[str, Any], state: TrainState, test: RiskEstimate
) -> Iterator[Row]:
    """A row per parameter of the best seed; none if no seed is left."""
    best = state.best(test)
    if best is None:
        return
    for name, array in state.values(best).items():
        yield {
            **point,
            "seed": state.seeds[state.running[best]],
            "name": name,
            "shape": list(array.shape),
            "values": array.ravel().astype(float).tolist(),
        }


def _status(stopped: int, diverged: int, risk: float) -> str:
    if diverged >= 0:
        return "diverged"
    if stopped >= 0:
        return "stopped"
    return "ok" if math.isfinite(risk) else "diverged"


def _last_iteration(run: Run, stopped: int, diverged: int) -> int:
    seen = [int(at) for at in (diverged, stopped) if at >= 0]
    return min(seen, default=run.recipe.iterations)
