"""The gradient of every model that there is in `models`, in every arm that it has."""

from __future__ import annotations

from collections.abc import Callable

import mixtures
import numpy as np
import pytest
import torch
from decoupling import engines, models
from decoupling.engines.base import Engine
from decoupling.engines.sequences import AutogradEngine
from decoupling.models.arms import ARMS
from decoupling.models.base import Model
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts

SEEDS, COUNT, STD = range(2), 200, 0.25
MIX = mixtures.random_mixture(np.random.default_rng(21), 3, 2, 0.2)
CONTEXTS = GaussianContexts(MIX, 4)
DIRECTIONS = 3  # random ones of length 1, of every parameter
# By the precision of the engine's arrays: how far a step goes, and how well the slope is known.
STEP = {"float32": (0.02, 5e-3), "float64": (1e-6, 1e-4)}

CASES = [
    (module, layers, arm)
    for module, model in models.modules().items()
    for layers in (1, 2)
    if model.supports_depth(layers)
    for arm in ARMS
    if model.unsupported(ARMS[arm].trains) is None
]


def parameters(model: Model, arm: str) -> dict[str, np.ndarray]:
    """Random weights, and whatever else the arm has."""
    own = model.initial_values(ARMS[arm].trains, SEEDS, STD)
    plain = model.initial_values(ARMS["plain"].trains, SEEDS, STD)
    return plain | own | model.fixed_values(ARMS[arm].trains, len(SEEDS))


def engine_of(model: Model) -> Engine:
    """In double precision where it can be: with torch."""
    engine = engines.load(model.engine)(CONTEXTS)
    if isinstance(engine, AutogradEngine):
        engine.from_numpy = lambda values: torch.from_numpy(values).double()
    return engine


def slopes(risk: Callable[[np.ndarray], np.ndarray], step: np.ndarray) -> np.ndarray:
    """What a step changes, to the fourth order in it."""
    near, far = risk(step) - risk(-step), risk(2 * step) - risk(-2 * step)
    return (8 * near - far) / 12


@pytest.mark.parametrize(("module", "layers", "arm"), CASES)
def test_gradient_is_the_slope_of_the_risk(module: str, layers: int, arm: str):
    """For all that the arm trains, parameter by parameter: a gradient that a model forgets is 0
    where the risk has a slope."""
    model = models.modules()[module](MIX.dim, MIX.tasks, layers)
    engine, params = engine_of(model), parameters(model, arm)
    batch = engine.data(Stream.TRAINING, 0, COUNT, 1.0, False)
    trained, rng = model.trained_shapes(ARMS[arm].trains), np.random.default_rng(7)

    def evaluate(changed: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        arrays = {key: engine.from_numpy(value) for key, value in (params | changed).items()}
        out = {key: engine.from_numpy(np.zeros_like(params[key])) for key in trained}
        risks = engine.risk_and_gradient(model, batch, arrays, out)
        return risks, {key: engine.to_numpy(value) for key, value in out.items()}

    grads = evaluate({})[1]
    for name, shape in trained.items():
        length, precision = STEP[grads[name].dtype.name]
        found, expected = [], []
        for _ in range(DIRECTIONS):
            step = rng.standard_normal(shape)
            step *= length / np.linalg.norm(step)
            found.append((grads[name] * step).reshape(len(SEEDS), -1).sum(1) / length)
            moved = slopes(lambda by, name=name: evaluate({name: params[name] + by})[0], step)
            expected.append(moved / length)
        largest = np.abs(expected).max()
        assert largest > 1e-3, name  # else nothing is shown
        np.testing.assert_allclose(found, expected, rtol=0, atol=precision * largest, err_msg=name)
