"""The time of a training job, computed from its sizes, for its request and its priority.

Models trained on batches have a pace, `contexts_per_minute`, measured at d = 10, up to three layers
and the lengths below. A context's time is proportional to the number of weights, times the number
of its tokens if weights are applied to each. It triples with each layer of linear attention beyond
three. One layer costs, with D = d + 1 and P = D(D + 1)/2,

    a step of a seed on the exact gradient     D³ + K D²
    more, on batches or a table                K P²
    a batch of B contexts, for all seeds       B P²
    or, where D is large, for each seed        B D²

and with importance sampling in deeper models the eigenvalues of a context's Gram matrix, for all
seeds, D min(n, d)².
"""

from __future__ import annotations

import math

from ..config.protocols import Protocol
from ..config.settings import Setting
from ..models.base import Model
from ..models.curve import Curve
from .jobs import SEQUENCES, sees_each_context, trained_curves

LEAST_MINUTES = 30
MOST_MINUTES = 24 * 60  # a day, the limit of many partitions
PACE_DIM, PACE_LAYERS = 10, 3
PACE_LENGTH = {"softmax": 50, "sequences": 10}  # n, by engine
LONG = 100  # tokens beyond which attention between them takes longer than weights
# Seconds, two to four times the measured ones on one thread of a busy machine (the least of several
# steps; tests/unit/test_jobs.py has them): a step on the exact gradient of 50 seeds at
# d = 50, 100 and 200 took 2.9, 17 and 102 ms, with 20 tasks instead of two 7.3 and 29 ms (d = 50
# and 100); the moments of a batch of 8192 0.8 s at d = 50, a step that sees each of its contexts
# 0.6 and 1.9 s at d = 100 and 200; a context's eigenvalues 0.05 ms at d = 50 (n = 50) and
# 0.3 ms at d = 100 (n = 200). Three layers took 15 (d = 50) and 65 times (d = 100) as long as at
# d = 10, for 21 and 84 times the arithmetic, and softmax attention 5 and 13 times.
PRODUCTS = 1e-9  # times D³: two products of D × D matrices
TASKS = 6e-9  # times K D²
FOURTH_MOMENTS = 2e-10  # times P²
EACH_CONTEXT = 4e-10  # times D²
EIGENVALUES = 8e-10  # times D min(n, d)²


def minutes(protocol: Protocol, setting: Setting, n: int, attempt: int) -> int:
    """Minutes that an attempt asks for: at most a day, as each continues from a checkpoint."""
    shared: dict[tuple[str, int], float] = {}  # a measured pace includes all arms of a model
    own = 0.0  # of each arm separately
    for curve in trained_curves(setting):
        key = curve.module, curve.layers
        drawn = _at_pace(protocol, setting, curve) * _growth(setting, curve, n)
        drawn += _eigenvalues(protocol, setting, curve, n)
        shared[key] = max(shared.get(key, 0), drawn + _batches(protocol, setting, curve))
        own += _steps(protocol, setting, curve)
    return min(round(attempt * (LEAST_MINUTES + own + sum(shared.values()))), MOST_MINUTES)


def priority(protocol: Protocol, setting: Setting, n: int) -> int:
    """A number about proportional to a job's time: long jobs start first, so that none runs alone
    at the end."""

    def work(curve: Curve) -> float:
        length = n if curve.model_class.engine in SEQUENCES else 1
        return _at_pace(protocol, setting, curve) * _weights(curve.build()) * length

    return round(sum(map(work, trained_curves(setting))))


def _at_pace(protocol: Protocol, setting: Setting, curve: Curve) -> float:
    """Minutes of a block of seeds with all arms of a model, by the measured pace. One-layer seeds
    share contexts."""
    run = protocol.run(curve)
    if run.recipe.batch_size == "exact":
        return 0
    seeds = 1 if curve.model_class.exact() else min(run.seeds, protocol.job_size(setting.curves))
    return seeds * run.recipe.contexts / curve.model_class.contexts_per_minute


def _growth(setting: Setting, curve: Curve, n: int) -> float:
    """The arithmetic of a context, relative to that of the measured pace."""
    if curve.model_class.exact():
        return 1
    dim, tasks = setting.shape
    depth, engine = min(curve.layers, PACE_LAYERS), curve.model_class.engine
    measured = _weights(curve.model_class(PACE_DIM, tasks, depth))
    if engine == "gram":  # a layer more has three times the products of a matrix and a vector
        alike = _weights(curve.model_class(dim, tasks, depth))
        growth = alike / measured * 3 ** (curve.layers - depth)
    else:
        growth = _weights(curve.build(dim, tasks)) / measured
    if engine == "softmax":  # D² for the query, D for every token
        growth *= (1 + n / (dim + 1)) / (1 + PACE_LENGTH[engine] / (PACE_DIM + 1))
    elif engine == "sequences":
        growth = max(1, growth) * max(1, n / PACE_LENGTH[engine]) * max(1, n / LONG)
    return max(1, growth)


def _eigenvalues(protocol: Protocol, setting: Setting, curve: Curve, n: int) -> float:
    """Minutes of drawing all contexts, which arms and seeds of a depth share."""
    recipe, (dim, _) = protocol.run(curve).recipe, setting.shape
    if not recipe.importance_sampling:
        return 0
    return recipe.contexts * EIGENVALUES * (dim + 1) * min(n, dim) ** 2 / 60


def _batches(protocol: Protocol, setting: Setting, curve: Curve) -> float:
    """Minutes of the fourth moments of all batches, shared by one-layer arms and seeds."""
    recipe = protocol.run(curve).recipe
    if not curve.model_class.exact() or recipe.batch_size == "exact" or sees_each_context(setting):
        return 0
    return recipe.contexts * FOURTH_MOMENTS * _pairs(setting) ** 2 / 60


def _steps(protocol: Protocol, setting: Setting, curve: Curve) -> float:
    """Minutes of the steps of a one-layer arm."""
    if not curve.model_class.exact():
        return 0
    run, (dim, tasks) = protocol.run(curve), setting.shape
    seconds = PRODUCTS * (dim + 1) ** 3 + TASKS * tasks * (dim + 1) ** 2
    on_batches = run.recipe.batch_size != "exact"
    if on_batches and sees_each_context(setting):
        seconds += EACH_CONTEXT * (dim + 1) ** 2 * run.recipe.contexts / run.recipe.iterations
    elif on_batches or setting.source != "gaussian":
        seconds += 2 * FOURTH_MOMENTS * tasks * _pairs(setting) ** 2  # forward and backward
    return min(run.seeds, protocol.job_size(setting.curves)) * run.recipe.iterations * seconds / 60


def _pairs(setting: Setting) -> int:
    """P, the number of pairs of entries of a token."""
    dim, _ = setting.shape
    return (dim + 1) * (dim + 2) // 2


def _weights(model: Model) -> int:
    return sum(math.prod(shape) for shape in model.weight_shapes.values())
