"""One layer on contexts whose query is not independent of them: rows of a unit of a table.

As `moments`, but with moments that have the query in them. The risk is that of the training units'
contexts; the best seed is chosen by it. Units that are held out are not looked at here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..models import Arrays
from ..models.with_query import risk, risk_and_gradient
from ..problem.query_moments import QueryMoments
from ..train.recipe import Recipe
from . import TestRisk


class WithQueryEngine:
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        self._all = contexts.moments()
        self._scaled = lru_cache(maxsize=2)(contexts.moments)
        self._batch = lru_cache(maxsize=2)(contexts.batch_moments)

    def array(self, values: np.ndarray) -> np.ndarray:
        return values

    def numbers(self, array: np.ndarray) -> np.ndarray:
        return array

    def data(self, stream: int, iteration: int, recipe: Recipe) -> QueryMoments:
        scale = recipe.mean_scale_at(iteration)
        if recipe.gradient == "exact":
            return self._scaled(scale)
        return self._batch(stream, iteration, recipe.batch_at(iteration), scale)

    def risk_and_gradient(
        self, model: Any, data: QueryMoments, params: Arrays, out: Arrays
    ) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # diverged seeds are counted later
            risks, grad = risk_and_gradient(data, model.one_layer(params))
            model.pull_back(params, grad, out)
        return risks

    def test(self, model: Any, params: Arrays, recipe: Recipe) -> TestRisk:
        with np.errstate(over="ignore", invalid="ignore"):
            found = risk(self._all, model.one_layer(params))
        return TestRisk(found, np.zeros_like(found), found)


ENGINE = WithQueryEngine
