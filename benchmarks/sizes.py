"""How a training step grows with d, K, n, seeds or layers, beside the exponent of its arithmetic.

    python benchmarks/sizes.py [--along d] [--values 10 23 24 32 50 64] [--repeats 7]

Prints a table: milliseconds of a core (the least of interleaved repeats, on one thread), and the
time at the largest value over that at the first (of d: at 23, or the d before it), times their
ratio to the exponent. Of d it is the ratio of D = d + 1; of layers the exponent is the base, as
each layer more has three times the products of a matrix and a vector. What does not vary: d = 10,
two tasks, n = 2d but for softmax attention, eight seeds.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable
from functools import partial

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

VALUES = {
    "d": [10, 23, 24, 32, 50, 64],
    "tasks": [2, 5, 10, 20],
    "n": [10, 50, 100, 500],
    "seeds": [1, 8, 50],
    "layers": [2, 3, 4, 6],
}
FROM = 23  # what larger d are compared with

Calls = tuple[Callable[[], object], ...]


def started(
    module: str, batch: int | None, *, d: int = 10, tasks: int = 2, n: int = 0, seeds: int = 8,
    layers: int = 1,
) -> TrainState:  # fmt: skip
    """On the exact gradient without a batch; n is 2d where it is 0."""
    means = [1.5 / d**0.5 * (-1) ** k for k in range(tasks)]
    mix = make_spec("size", dict(d=d, weights=[1 / tasks] * tasks, means=means, covs=[1] * tasks))
    model = models.load(module)
    curve = Curve(mix.name, module, model.name, layers, "joint_heads", ARMS["joint_heads"].trains)
    engine = engines.load(model.engine)(GaussianContexts(mix, n or 2 * d))
    recipe = Recipe(batch_size=batch or "exact")
    return TrainState(Run(curve, recipe), engine, (d, tasks), range(seeds))


def draw(batch: int, importance: bool, **size: int) -> Callable[[], object]:
    engine = started("deep_attention", batch, **{"layers": 2} | size).engine
    numbers = itertools.count()
    return lambda: engine.data(Stream.TRAINING, next(numbers), batch, 1.0, importance)


def step(module: str, batch: int | None, **size: int) -> Callable[[], object]:
    """Of a batch that is there."""
    state = started(module, batch, **size)
    data = state.engine.data(Stream.TRAINING, 0, batch, 1.0, False)
    return lambda: state.step(0, data)


def batch_step(batch: int, **size: int) -> Callable[[], object]:
    """Of one layer, what it sees of the batch made anew."""
    state, numbers = started("attention", batch, **size), itertools.count()

    def call() -> None:
        state.step(0, state.engine.data(Stream.TRAINING, next(numbers), batch, 1.0, False))

    return call


def cases(along: str, batch: int) -> dict[str, tuple[int, Callable[..., Callable[[], object]]]]:
    """Exponent of what varies, 0 where the arithmetic does not grow, and what makes the call."""
    few, deep = max(1, batch // 4), partial(step, "deep_attention", batch)
    if along == "layers":
        return {f"linear attention, {batch} contexts": (3, deep)}
    of = {
        "one layer, exact": ({"d": 3, "tasks": 1, "seeds": 1}, partial(step, "attention", None)),
        f"one layer, {batch} contexts": ({"d": 4}, partial(batch_step, batch)),
        f"draw, {batch} contexts": ({"d": 3}, partial(draw, batch, False)),
        f"draw, importance sampling, {batch}": ({"d": 3}, partial(draw, batch, True)),
        f"two layers, {batch}": ({"d": 2, "seeds": 1}, partial(deep, layers=2)),
        f"three layers, {batch}": ({"d": 2, "seeds": 1}, partial(deep, layers=3)),
    }
    if along == "n":
        of[f"softmax, {few}"] = {"n": 1}, partial(step, "softmax", few)
    else:
        for n, exponent in ((50, 2), (500, 1)):  # of few tokens the query's D² is most
            exponents = {"d": exponent, "seeds": 1}
            of[f"softmax, n = {n}, {few}"] = exponents, partial(step, "softmax", few, n=n)
    return {name: (exponents.get(along, 0), make) for name, (exponents, make) in of.items()}


def growth(along: str, exponent: int, least: int, most: int) -> float:
    """Of the arithmetic."""
    if along == "layers":
        return exponent ** (most - least)
    more = along == "d"
    return ((most + more) / (least + more)) ** exponent


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
    parser.add_argument("--along", choices=VALUES, default="d")
    parser.add_argument("--values", type=int, nargs="+", help="of what varies")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--batch", type=int, default=1024, help="contexts; softmax has a quarter")
    args = parser.parse_args()
    torch.set_num_threads(1)
    values = sorted(args.values or VALUES[args.along])
    known = [i for i, value in enumerate(values) if value <= FROM]
    base = known[-1] if args.along == "d" and known else 0
    headings = " | ".join(f"{args.along} = {value}" for value in values)
    print("| | exponent |", headings, "| over arithmetic |")
    print("|---" * (len(values) + 3) + "|")
    for name, (exponent, make) in cases(args.along, args.batch).items():
        times = measure(tuple(make(**{args.along: value}) for value in values), args.repeats)
        expected = growth(args.along, exponent, values[base], values[-1])
        cells = [name, str(exponent), *(f"{t:.3g}" for t in times)]
        print("|", " | ".join(cells), f"| {times[-1] / times[base] / expected:.2f} |", flush=True)


if __name__ == "__main__":
    main()
