"""Contexts of a fold's training units, at one n: their moments, which include the query."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...problem.mixture import TaskMixture
from ...problem.query_moments import QueryMoments, RawMoments, assemble
from ...problem.scaling import Scaling
from ...problem.streams import Stream, generator
from .spec import read_fold
from .tokens import Contexts


class TableContexts:
    """A fold's contexts, as training asks for them."""

    def __init__(self, spec: TaskMixture, contexts: Contexts, n: int, scale: float = 1.0) -> None:
        """Gram matrices are multiplied by `scale`."""
        self.spec, self.n = spec, n
        self._contexts = contexts
        self._grams = scale * contexts.grams

    @classmethod
    def read(cls, spec: str, n: int, table: str) -> TableContexts:
        fold = read_fold(spec, table)
        return cls(fold.mix, fold.training_contexts(n), n)

    def standardised(self, scaling: Scaling) -> TableContexts:
        contexts = self._contexts.rescaled(scaling.inverse)
        spec = scaling.standardised(self.spec)
        return TableContexts(spec, contexts, self.n, 1 / scaling.tokens)

    @cached_property
    def _raw(self) -> list[RawMoments]:
        return self._moments(np.arange(len(self._grams)))

    def _moments(self, chosen: np.ndarray) -> list[RawMoments]:
        """Moments of these contexts by task; 0 for a task without contexts."""
        contexts = self._contexts
        by_task = [chosen[contexts.task[chosen] == k] for k in range(self.spec.tasks)]
        return [
            RawMoments.of(contexts.query[own], contexts.label[own], self._grams[own], len(chosen))
            for own in by_task
        ]

    def moments(self, mean_scale: float = 1.0) -> QueryMoments:
        """With a mean scale s below 1, labels are y − (1 − s)xᵀμ_k, so that β has mean sμ_k."""
        return self._assembled(self._raw, mean_scale)

    def batch_moments(self, stream: int, index: int, size: int, mean_scale: float) -> QueryMoments:
        """Moments of contexts drawn from those of the training units, with repetition."""
        rng = generator(self.spec, self.n, Stream(stream), 1 + index)  # index 0 drew the contexts
        return self._assembled(self._moments(rng.integers(len(self._grams), size=size)), mean_scale)

    def _assembled(self, raw: list[RawMoments], mean_scale: float) -> QueryMoments:
        if mean_scale == 1:
            return assemble(raw)
        pairs = zip(raw, self.spec.means, strict=True)
        return assemble([own.less((1 - mean_scale) * mean) for own, mean in pairs])


CONTEXTS = TableContexts
