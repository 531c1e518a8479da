"""Batches of Gram matrices: for models of layers that see a context only through its own.

A model gives `chain(params)`, what it is to the data (`models.layered.Chain`), and `pull_back`, the
way back of the gradient. On a CPU the arithmetic is one compiled pass, in single precision; torch
does it on a GPU, and where matrices are too large for that. The test risk is estimated on held-out
contexts, and the best seed chosen on another set of them, because a minimum over noisy estimates is
biased low.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..kernels import LARGEST
from ..problem.gram import GramBatch
from ..problem.streams import Stream
from ..train.recipe import Recipe
from . import HELD_OUT, TestRisk, tail_share


class GramEngine:
    """What both ways of doing the arithmetic share. They add `array`, `numbers`,
    `risk_and_gradient` and `errors`."""

    def __init__(self, contexts: Any) -> None:
        self._batch = lru_cache(maxsize=2)(contexts.batch)
        self._noise_var = contexts.spec.noise_var

    def data(self, stream: int, iteration: int, recipe: Recipe) -> Any:
        size = recipe.batch_at(iteration)
        return self._batch(stream, iteration, size, recipe.mean_scale_at(iteration))

    def errors(self, model: Any, params: Any, batch: GramBatch) -> np.ndarray:
        """(v − β)ᵀΣx(v − β) of every seed and context, [seeds, B]."""
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
        sizes = [min(HELD_OUT, count - first) for first in range(0, count, HELD_OUT)]
        return np.concatenate(
            [
                self.errors(model, params, self._batch(stream, index, size, mean_scale))
                for index, size in enumerate(sizes)
            ],
            axis=1,
        )


def engine(contexts: Any, device: str = "cpu", threads: int = 1) -> GramEngine:
    if device == "cpu" and contexts.spec.dim + 1 <= LARGEST:
        from .gram_compiled import CompiledEngine as Engine
    else:
        from .gram_torch import TorchEngine as Engine
    return Engine(contexts, device, threads)


ENGINE = engine
