"""What engines share whose models see batches of contexts, and are tested on held-out ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..problem.streams import Stream
from ..train.recipe import Recipe
from . import HELD_OUT, TestRisk, tail_share


class BatchEngine:
    """The test risk is estimated on held-out contexts, and the best seed chosen on another set of
    them, because a minimum over noisy estimates is biased low.

    Engines add `array`, `numbers`, `risk_and_gradient` and `errors`.
    """

    chunk = HELD_OUT  # held-out contexts at a time

    def __init__(self, draw: Callable, noise_var: float) -> None:
        """`draw(stream, index, size, mean_scale)` gives a batch."""
        self.batch = lru_cache(maxsize=2)(draw)
        self._noise_var = noise_var

    def data(self, stream: int, iteration: int, recipe: Recipe) -> Any:
        size = recipe.batch_at(iteration)
        return self.batch(stream, iteration, size, recipe.mean_scale_at(iteration))

    def errors(self, model: Any, params: Any, batch: Any) -> np.ndarray:
        """Of every seed and context, without the noise of the query's label: [seeds, B]."""
        raise NotImplementedError

    def judge(self, model: Any, params: Any, recipe: Recipe, mean_scale: float) -> np.ndarray:
        """Every seed's risk on the contexts by which races are decided."""
        errors = self._held_out(model, params, Stream.RACE, recipe.race_contexts, mean_scale)
        return errors.mean(1, dtype=float)

    def test(self, model: Any, params: Any, recipe: Recipe) -> TestRisk:
        report, selection = (
            self._held_out(model, params, stream, recipe.test_contexts)
            for stream in (Stream.REPORT, Stream.SELECTION)
        )
        return TestRisk(
            report.mean(1, dtype=float) + self._noise_var,
            report.std(1, ddof=1, dtype=float) / report.shape[1] ** 0.5,
            selection.mean(1, dtype=float) + self._noise_var,
            tail_share(report),
        )

    def _held_out(
        self, model: Any, params: Any, stream: Stream, count: int, mean_scale: float = 1.0
    ) -> np.ndarray:
        sizes = [min(self.chunk, count - first) for first in range(0, count, self.chunk)]
        return np.concatenate(
            [
                self.errors(model, params, self.batch(stream, index, size, mean_scale))
                for index, size in enumerate(sizes)
            ],
            axis=1,
        )
