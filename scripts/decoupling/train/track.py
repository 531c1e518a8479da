"""The state of one run in training, over a block of seeds."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import models
from . import adam
from .recipe import Run

log = logging.getLogger(__name__)

STATE = ("theta", "first", "second")  # what a step changes and the next one needs


class Track:
    """A run's parameters for a block of seeds, and its optimiser's state.

    All trained parameters of a seed are one row of `theta`, their gradient one row of `grad`;
    `params` are views into it, besides what is frozen. Arrays are the engine's.
    """

    def __init__(
        self,
        run: Run,
        engine: Any,
        shape: tuple[int, int],
        seeds: Sequence[int],
        frozen: Mapping[str, Any] | None = None,
    ) -> None:
        """`shape` is (d, K)."""
        self.run, self.engine, self.seeds = run, engine, seeds
        self.model = models.load(run.module)(*shape, run.layers)
        self.shapes = self.model.trained_shapes(run.parts)
        initial = self.model.initial_values(run.parts, seeds, run.recipe.init_std)
        self.theta, self.grad, self.first, self.second = (
            engine.array(flat) for flat in _flat_and_zeros(initial, len(seeds))
        )
        self.diverged_at = np.full(len(seeds), -1)  # iteration at which it was seen
        self.params = {**(frozen or {}), **self._views(self.theta)}
        self._grads = self._views(self.grad)
        self._rates = engine.array(self._rate_factors())

    def _views(self, flat: Any) -> dict[str, Any]:
        """Parameters by name."""
        views, start = {}, 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            views[name] = flat[:, start:end].reshape(len(flat), *shape)
            start = end
        return views

    def _rate_factors(self) -> np.ndarray:
        factors = {"prompts": self.run.recipe.prompt_lr_factor}
        parts = [
            np.full(math.prod(shape), factors.get(name, 1.0)) for name, shape in self.shapes.items()
        ]
        return np.concatenate(parts)[None]

    def step(self, iteration: int, data: Any) -> np.ndarray:
        """One step of Adam; returns every seed's risk before it."""
        risks = self.engine.risk_and_gradient(self.model, data, self.params, self._grads)
        recipe = self.run.recipe
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if recipe.clip_norm is not None:
                norms = ((self.grad * self.grad).sum(1) ** 0.5)[:, None]
                self.grad *= (recipe.clip_norm / norms).clip(max=1)
            rates = recipe.lr_at(iteration) * self._rates
            adam.update(self.theta, self.first, self.second, self.grad, rates, iteration + 1)
        return risks

    def note_divergence(self, iteration: int, risks: np.ndarray) -> None:
        bad = ~np.isfinite(risks) & (self.diverged_at < 0)
        if bad.any():
            seeds = [self.seeds[i] for i in bad.nonzero()[0]]
            log.warning("%s: seeds %s diverged by iteration %d", self.run.key, seeds, iteration)
            self.diverged_at[bad] = iteration

    def state(self) -> dict[str, np.ndarray]:
        """All that changes in training, for the checkpoint."""
        arrays = {name: self.engine.numbers(getattr(self, name)) for name in STATE}
        return arrays | {"diverged_at": self.diverged_at}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        for name in STATE:
            getattr(self, name)[:] = self.engine.array(state[name])
        self.diverged_at[:] = state["diverged_at"]


def _flat_and_zeros(values: Mapping[str, np.ndarray], seeds: int) -> list[np.ndarray]:
    """Parameters with a row per seed; and zeros for the gradient and Adam's two means."""
    flat = np.concatenate([value.reshape(seeds, -1) for value in values.values()], axis=1)
    return [flat, *(np.zeros_like(flat) for _ in range(3))]
