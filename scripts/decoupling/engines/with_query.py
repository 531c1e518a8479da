"""One layer on contexts whose query is not independent of them: rows of a unit of a table.

As `moments`, but with moments that have the query in them. The risk is that of the training units'
contexts. Units that are held out are not looked at here.
"""

from __future__ import annotations

import numpy as np

from ..models.one_layer import OneLayer
from ..models.with_query import risk, risk_and_gradient
from ..problem.query_moments import QueryMoments
from .one_layer import OneLayerEngine


class WithQueryEngine(OneLayerEngine):
    def risk(self, moments: QueryMoments, made: OneLayer) -> np.ndarray:
        return risk(moments, made)

    def gradient(self, moments: QueryMoments, made: OneLayer) -> tuple[np.ndarray, OneLayer]:
        return risk_and_gradient(moments, made)


ENGINE = WithQueryEngine
