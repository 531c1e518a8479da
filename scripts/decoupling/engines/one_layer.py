"""What engines share whose models see moments: one layer, in double precision on the CPU.

A model gives `one_layer(params)`, what it is to the data, and `pull_back`, the way back of the
gradient. The risk is exact, so the best seed is chosen by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..models import Arrays
from ..models.one_layer import OneLayer
from ..train.recipe import Recipe
from . import TestRisk


class OneLayerEngine:
    """Engines add `risk` and `gradient`, which gives the risk too, of moments and `OneLayer`s."""

    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        self._exact = contexts.moments()
        self._scaled = lru_cache(maxsize=2)(contexts.moments)
        self._batch = lru_cache(maxsize=2)(contexts.batch_moments)

    def risk(self, moments: Any, made: OneLayer) -> np.ndarray:
        raise NotImplementedError

    def gradient(self, moments: Any, made: OneLayer) -> tuple[np.ndarray, OneLayer]:
        raise NotImplementedError

    def array(self, values: np.ndarray) -> np.ndarray:
        return values

    def numbers(self, array: np.ndarray) -> np.ndarray:
        return array

    def data(self, stream: int, iteration: int, recipe: Recipe) -> Any:
        scale = recipe.mean_scale_at(iteration)
        if recipe.gradient == "exact":
            return self._scaled(scale)
        return self._batch(stream, iteration, recipe.batch_at(iteration), scale)

    def risk_and_gradient(self, model: Any, data: Any, params: Arrays, out: Arrays) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # diverged seeds are counted later
            risks, grad = self.gradient(data, model.one_layer(params))
            model.pull_back(params, grad, out)
        return risks

    def test(self, trained: Sequence[tuple[Any, Arrays]], count: int) -> list[TestRisk]:
        with np.errstate(over="ignore", invalid="ignore"):
            found = [self.risk(self._exact, model.one_layer(params)) for model, params in trained]
        found = [np.maximum(risks, 0) for risks in found]  # differences of E[y²]s are rounded
        return [TestRisk(risks, np.zeros_like(risks), risks) for risks in found]
