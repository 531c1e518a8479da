"""How a training step grows with d, beside the exponent of its arithmetic.

    python benchmarks/sizes.py [--dims 10 23 24 32 50 64] [--repeats 7]

Prints a table: milliseconds of a core (the least of interleaved repeats, on one thread), and the
time at the largest d over that at 23, or the d before it, times the ratio of D = d + 1 to the
exponent. Eight seeds, n = 2d but for softmax attention.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable

import speed  # noqa: F401 - first: it sets the threads
import torch
from decoupling import engines, models
from decoupling.models.arms import ARMS
from decoupling.models.curve import Curve
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.block import make_spec
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.train.recipe import Recipe, Run
from decoupling.train.state import TrainState

SEEDS = 8
FROM = 23  # what larger d are compared with

Calls = tuple[Callable[[], object], ...]


def started(module: str, layers: int, dim: int, n: int, batch: int) -> TrainState:
    mean = 1.5 / dim**0.5
    mix = make_spec("size", dict(d=dim, weights=[0.3, 0.7], means=[mean, -mean], covs=[1, 1]))
    model = models.load(module)
    curve = Curve(mix.name, module, model.name, layers, "joint_heads", ARMS["joint_heads"].trains)
    engine = engines.load(model.engine)(GaussianContexts(mix, n))
    return TrainState(Run(curve, Recipe(batch_size=batch)), engine, (dim, mix.tasks), range(SEEDS))


def draw(dim: int, batch: int, importance: bool) -> Callable[[], object]:
    engine = started("deep_attention", 2, dim, 2 * dim, batch).engine
    numbers = itertools.count()
    return lambda: engine.data(Stream.TRAINING, next(numbers), batch, 1.0, importance)


def step(module: str, layers: int, dim: int, n: int, batch: int) -> Callable[[], object]:
    """Of a batch that is there."""
    state = started(module, layers, dim, n, batch)
    data = state.engine.data(Stream.TRAINING, 0, batch, 1.0, False)
    return lambda: state.step(0, data)


def cases(batch: int) -> dict[str, tuple[int, Callable[[int], Callable[[], object]]]]:
    """Exponent of D, and what to time at a d."""
    few = max(1, batch // 4)
    return {
        f"draw, {batch} contexts": (3, lambda d: draw(d, batch, False)),
        f"draw, importance sampling, {batch}": (3, lambda d: draw(d, batch, True)),
        f"two layers, {batch}": (2, lambda d: step("deep_attention", 2, d, 2 * d, batch)),
        f"three layers, {batch}": (2, lambda d: step("deep_attention", 3, d, 2 * d, batch)),
        f"softmax, n = 50, {few}": (2, lambda d: step("softmax", 1, d, 50, few)),
        f"softmax, n = 500, {few}": (1, lambda d: step("softmax", 1, d, 500, few)),
    }


def measure(calls: Calls, repeats: int) -> list[float]:
    found = [math.inf] * len(calls)
    for round_number in range(repeats + 1):
        for i, call in enumerate(calls):
            begun = time.process_time()
            call()
            if round_number:  # the first compiles
                found[i] = min(found[i], 1e3 * (time.process_time() - begun))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[10, FROM, 24, 32, 50, 64])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--batch", type=int, default=1024, help="contexts; softmax has a quarter")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dims = sorted(args.dims)
    base = max((i for i, dim in enumerate(dims) if dim <= FROM), default=0)
    print("|", "| exponent |", " | ".join(f"d = {dim}" for dim in dims), "| over arithmetic |")
    print("|---" * (len(dims) + 3) + "|")
    for name, (exponent, make) in cases(args.batch).items():
        times = measure(tuple(make(dim) for dim in dims), args.repeats)
        growth = ((dims[-1] + 1) / (dims[base] + 1)) ** exponent
        cells = [name, str(exponent), *(f"{t:.3g}" for t in times)]
        print("|", " | ".join(cells), f"| {times[-1] / times[base] / growth:.2f} |", flush=True)


if __name__ == "__main__":
    main()
