"""One layer: the data enters only through moments of the Gram matrix, exact or of a batch.

It is small algebra, compiled unless matrices are large, on the CPU whatever the device.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..kernels import LARGEST, compiled, one_layer
from ..models import Arrays
from ..models.one_layer import OneLayer, risk, risk_and_gradient
from ..problem.gram import GramBatch
from ..problem.moments import Moments, packing
from . import HELD_OUT, weighted
from .one_layer import OneLayerEngine


class MomentsEngine(OneLayerEngine):
    chunk = HELD_OUT

    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        super().__init__(contexts, device, threads)
        self._sigma_x = contexts.spec.sigma_x
        self.held_out = lru_cache(maxsize=2)(contexts.wide_batch)

    def risk(self, moments: Moments, made: OneLayer) -> np.ndarray:
        return risk(moments, made)

    def gradient(self, moments: Moments, made: OneLayer) -> tuple[np.ndarray, OneLayer]:
        large = max(made.scores.shape[-1], len(moments.mass)) > LARGEST
        return (risk_and_gradient if large else _in_one_pass)(moments, made)

    def errors(self, model: Any, params: Arrays, batch: GramBatch) -> np.ndarray:
        """(u − β)ᵀΣx(u − β) of every seed and context, times its weight, [seeds, B], with
        u = A₁(S + p_k p_kᵀ)a_k."""
        made = model.one_layer(params)
        found = []
        for k, (grams, beta) in enumerate(zip(batch.grams, batch.betas, strict=True)):
            readout = made.readouts[min(k, len(made.readouts) - 1)]
            features = np.einsum("ijb,sj->sib", grams.astype(float), readout, optimize=True)
            if made.prompts is not None:
                prompt = made.prompts[k]
                features += ((prompt * readout).sum(1)[:, None] * prompt)[:, :, None]
            gap = made.scores @ features - beta
            found.append((gap * (self._sigma_x @ gap)).sum(1))
        return weighted(np.concatenate(found, axis=1), batch)


def _in_one_pass(moments: Moments, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
    """As `risk_and_gradient`."""
    seeds, _, size = model.scores.shape
    tasks, pack = len(moments.mass), packing(size)
    prompted = model.prompts is not None
    pooled = len(model.readouts) == 1
    given = model.scores, model.readouts, model.prompts if prompted else np.empty((0, seeds, size))
    value = np.empty(seeds)
    grad = OneLayer(*(np.zeros(array.shape) for array in given))
    compiled(one_layer.run, size, tasks)(
        *((0,) * number for number in (size, size - 1, 2 * tasks, tasks)),
        *(np.require(array, float, "CW") for array in given),
        *(moments.pooled if pooled else (moments.second, moments.cross)),
        moments.first, moments.beta, moments.mass, float(moments.label_power),
        np.empty((0, 0)) if moments.sigma_x is None else moments.sigma_x,
        pack.rows, pack.cols, pack.multiplicity, pack.position,
        value, grad.scores, grad.readouts, grad.prompts,
    )  # fmt: skip
    return value, grad if prompted else replace(grad, prompts=None)


ENGINE = MomentsEngine
