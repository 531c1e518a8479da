"""Contexts of a Gaussian task mixture, at one n: exact moments, batches and their moments,
sequences."""

from __future__ import annotations

from functools import cache, partial

from ...problem.each_context import PAYS_FROM, EachContext, each_context
from ...problem.gaussian_moments import GaussianMoments, population_moments
from ...problem.gram import GramBatch, GramSampler
from ...problem.mixture import TaskMixture
from ...problem.moments import Moments, batch_moments
from ...problem.scaling import Scaling
from ...problem.sequences import SequenceBatch, draw_sequences


class GaussianContexts:
    """A mixture's contexts, as training asks for them."""

    def __init__(self, spec: TaskMixture, n: int, scale: float = 1.0) -> None:
        """Gram matrices are multiplied by `scale`."""
        self.spec, self.n, self._scale = spec, n, scale
        self._grams = cache(partial(GramSampler, spec, n, scale=scale))  # by stream

    @classmethod
    def read(cls, spec: str, n: int) -> GaussianContexts:
        return cls(TaskMixture.from_json(spec), n)

    def standardised(self, scaling: Scaling) -> GaussianContexts:
        return GaussianContexts(scaling.standardised(self.spec), self.n, 1 / scaling.tokens)

    def moments(self, mean_scale: float = 1.0) -> GaussianMoments:
        return population_moments(self.spec.scaled_means(mean_scale), self.n, self._scale)

    def batch(self, stream: int, index: int, size: int, mean_scale: float = 1.0) -> GramBatch:
        return self._grams(stream).batch(index, size, mean_scale)

    def importance_batch(
        self, stream: int, index: int, size: int, mean_scale: float = 1.0
    ) -> GramBatch:
        """Importance-sampled for deep models, with weights."""
        return self._grams(stream).batch(index, size, mean_scale, importance=True)

    def sequences(
        self, stream: int, index: int, size: int, mean_scale: float = 1.0
    ) -> SequenceBatch:
        return draw_sequences(self.spec, self.n, stream, index, size, mean_scale)

    def batch_moments(
        self, stream: int, index: int, size: int, mean_scale: float
    ) -> Moments | EachContext:
        found = each_context if self.spec.dim >= PAYS_FROM else batch_moments
        return found(self.batch(stream, index, size, mean_scale), self.spec)


CONTEXTS = GaussianContexts
