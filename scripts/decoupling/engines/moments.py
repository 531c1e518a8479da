"""One layer: the risk depends on the data through moments alone, exact or of a batch.

A model forwards a `problem.one_layer.OneLayer`. The algebra is small, in double precision, and on
the CPU whatever the device; for moments of Gram matrices it is compiled unless they are large. The
risk is exact, so the best seed is chosen by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..kernels import LARGEST, compiled, gaussian, one_layer
from ..models.base import Arrays
from ..problem.gaussian_moments import GaussianMoments
from ..problem.gram import GramBatch
from ..problem.moments import Moments
from ..problem.one_layer import OneLayer
from ..problem.packing import packing
from .base import Engine, RiskEstimate, weighted


class MomentsEngine(Engine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        self._contexts = contexts
        self._exact = contexts.moments()
        self._moments_at = lru_cache(maxsize=2)(contexts.moments)  # a scale of the means
        self._batch = lru_cache(maxsize=2)(contexts.batch_moments)

    def data(
        self, stream: int, index: int, size: int | None, mean_scale: float, importance: bool
    ) -> Any:
        """`importance` changes nothing: moments have no weighted contexts."""
        if size is None:
            return self._moments_at(mean_scale)
        return self._batch(stream, index, size, mean_scale)

    def run(self, forwarded: OneLayer, data: Any) -> tuple[np.ndarray, OneLayer]:
        """By a compiled kernel, if there is one for these moments and they are not large."""
        if type(data) in KERNELS and max(len(data.beta), forwarded.scores.shape[-1]) <= LARGEST:
            return in_one_pass(data, forwarded)
        return data.risk_and_gradient(forwarded)

    def test(self, trained: Sequence[tuple[Any, Arrays]], count: int) -> list[RiskEstimate]:
        with np.errstate(over="ignore", invalid="ignore"):
            found = [self._exact.risk(model.forward(params)) for model, params in trained]
        found = [np.maximum(risks, 0) for risks in found]  # differences of E[y²]s are rounded
        return [RiskEstimate(risks, np.zeros_like(risks), risks) for risks in found]

    def held_out(self, stream: int, index: int, size: int) -> GramBatch:
        return self._contexts.importance_batch(stream, index, size)

    def errors(self, model: Any, params: Arrays, batch: GramBatch) -> np.ndarray:
        """(u − β)ᵀΣx(u − β) with u = A₁(S + p_k p_kᵀ)a_k."""
        made, sigma_x = model.forward(params), self._contexts.spec.sigma_x
        found = []
        for k, (grams, beta) in enumerate(zip(batch.grams, batch.betas, strict=True)):
            readout = made.readouts[min(k, len(made.readouts) - 1)]
            features = np.einsum("ijb,sj->sib", grams.astype(float), readout, optimize=True)
            if made.prompts is not None:
                prompt = made.prompts[k]
                features += ((prompt * readout).sum(1)[:, None] * prompt)[:, :, None]
            gap = made.scores @ features - beta
            found.append((gap * (sigma_x @ gap)).sum(1))
        return weighted(np.concatenate(found, axis=1), batch)


def in_one_pass(moments: Moments | GaussianMoments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """As `moments.risk_and_gradient`, by the compiled kernel."""
    seeds, _, size = model.scores.shape
    tasks, (kernel, arguments) = len(moments.beta), KERNELS[type(moments)]
    prompted = model.prompts is not None
    given = model.scores, model.readouts, model.prompts if prompted else np.empty((0, seeds, size))
    value = np.empty(seeds)
    grad = OneLayer(*(np.zeros(array.shape) for array in given))
    compiled(kernel, size, tasks)(
        # Tuples whose lengths are known when the kernel is compiled, so that loops are written out.
        *((0,) * number for number in (size, size - 1, 2 * tasks, tasks)),
        *(np.require(array, float, "CW") for array in given),
        *arguments(moments, len(model.readouts)),
        value, grad.scores, grad.readouts, grad.prompts,
    )  # fmt: skip
    return value, grad if prompted else replace(grad, prompts=None)


def _of_batch(moments: Moments, heads: int) -> Iterator[Any]:
    pack = packing(len(moments.first[0]))
    yield from moments.pooled if heads == 1 else (moments.second, moments.cross)
    yield from (moments.first, moments.beta, moments.mass, float(moments.label_power))
    yield np.empty((0, 0)) if moments.sigma_x is None else moments.sigma_x
    yield from (pack.rows, pack.cols, pack.multiplicity, pack.position)


def _of_gaussian(moments: GaussianMoments, heads: int) -> Iterator[Any]:
    names = ("weights", "omega", "beta_cov", "slope_cov", "label_cov", "gram", "beta")
    yield float(moments.n)
    yield from (getattr(moments, name) for name in names)
    yield float(moments.label_power)
    yield np.empty((0, 0)) if moments.sigma_x is None else moments.sigma_x


KERNELS = {Moments: (one_layer.run, _of_batch), GaussianMoments: (gaussian.run, _of_gaussian)}
ENGINE = MomentsEngine
