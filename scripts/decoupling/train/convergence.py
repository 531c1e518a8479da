"""A test of whether training has ended: by how much a further search lowers the best seed's risk.

A small gradient says little, because its size depends on the parameters' units. So L-BFGS goes on
from the trained parameters for a hundred steps, and what counts is the share of the risk that
it takes off. That share is a lower bound on what training has left: it does not see other minima.
"""

from __future__ import annotations

import numpy as np

from ..problem.streams import Stream
from .state import TrainState

STEPS = 100
LEAST = 1e-6  # share of the risk; L-BFGS stops at a step that takes off less


def descent_left(state: TrainState, place: int) -> float:
    """The share of a seed's risk that L-BFGS takes off it; NaN if the risk is estimated."""
    from scipy.optimize import minimize  # a fifth of a second, at every start of a job

    if not state.model.exact():
        return np.nan
    exact = state.engine.data(Stream.TRAINING, 0, None, 1.0, False)
    objective, start = state.objective(place, exact)
    risk, _ = objective(start)
    if risk <= 0:  # by rounding
        return 0.0
    least = risk

    def relative(unknowns: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal least
        value, grad = objective(unknowns)
        least = min(least, value)  # NaN is not less
        return value / risk, grad / risk

    options = {"maxiter": STEPS, "ftol": LEAST, "gtol": 0.0}
    minimize(relative, start, jac=True, method="L-BFGS-B", options=options)
    return 1 - max(least, 0) / risk
