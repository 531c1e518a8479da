"""What engines share whose models see batches of contexts, and are tested on held-out ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

    def __init__(self, draw: Callable, noise_var: float, wide: Callable | None = None) -> None:
        """`draw(stream, index, size, mean_scale)` gives a batch, and `wide` one of the same
        distribution with weights, by which risks are estimated; `draw` where left out."""
        self._draw = lru_cache(maxsize=2)(draw)
        self._wide = lru_cache(maxsize=2)(wide) if wide else self._draw
        self._noise_var = noise_var

    def data(self, stream: int, iteration: int, recipe: Recipe) -> Any:
        draw = self._wide if recipe.wide_contexts else self._draw
        size = recipe.batch_at(iteration)
        return draw(stream, iteration, size, recipe.mean_scale_at(iteration))

    def held_out(self, stream: int, index: int, size: int) -> Any:
        return self._wide(stream, index, size, 1.0)

    def errors(self, model: Any, params: Any, batch: Any) -> np.ndarray:
        """Of every seed and context, without the noise of the query's label, times the context's
        weight: [seeds, B]."""
        raise NotImplementedError

    def test(self, trained: Sequence[tuple[Any, Any]], count: int) -> list[TestRisk]:
        totals: list[Any] = [0.0] * len(trained)
        for parts in self._errors_on(Stream.SELECTION, trained, count):
            sums = (errors.sum(1, dtype=float) for errors in parts)
            totals = [total + own for total, own in zip(totals, sums, strict=True)]
        report = zip(*self._errors_on(Stream.REPORT, trained, count), strict=True)
        return [
            TestRisk(
                errors.mean(1, dtype=float) + self._noise_var,
                errors.std(1, ddof=1, dtype=float) / count**0.5,
                total / count + self._noise_var,
                tail_share(errors),
            )
            for total, errors in zip(totals, (np.hstack(parts) for parts in report), strict=True)
        ]

    def _errors_on(
        self, stream: Stream, trained: Sequence[tuple[Any, Any]], count: int
    ) -> Iterator[list[np.ndarray]]:
        """Of every model, a part of the held-out contexts after the other."""
        for index, first in enumerate(range(0, count, self.chunk)):
            batch = self.held_out(stream, index, min(self.chunk, count - first))
            yield [self.errors(model, params, batch) for model, params in trained]
