"""Time of one training step, on one thread: this library against the literal implementation.

    python benchmarks/speed.py [--repeats 7]

Prints JSON: milliseconds per step and seed (the median of interleaved repeats, data drawn in
the step), their ratios, and where a step on the exact gradient spends its time. fig2a's mixture,
joint training, batches of 8192 contexts. The literal one-layer step computes the query's row of
attention and no other. Softmax attention and a transformer of width 32: batches of 1024.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".kernels"))
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is first imported

import torch  # noqa: E402

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import literal  # noqa: E402
from decoupling import engines, models  # noqa: E402
from decoupling.engines import moments  # noqa: E402
from decoupling.models.arms import ARMS  # noqa: E402
from decoupling.models.attention import Attention  # noqa: E402
from decoupling.models.curve import Curve  # noqa: E402
from decoupling.problem.streams import Stream  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.optimisers import adam  # noqa: E402
from decoupling.train.recipe import Recipe, Run  # noqa: E402
from decoupling.train.state import TrainState  # noqa: E402

SEEDS = 50
FIG2A = {"d": 10, "weights": [0.3, 0.7], "means": [1.7, -1.3], "covs": [1, 1]}
MIX = make_spec("fig2a", FIG2A)
LENGTHS = (1, 10, 50)
FEW = 8  # seeds of softmax attention, with two heads

Step = Callable[[], object]


def attention(layers: int, seeds: int, n: int, gradient: str | int = "exact") -> TrainState:
    return made("attention" if layers == 1 else "deep_attention", layers, seeds, n, gradient)


def made(module: str, layers: int, seeds: int, n: int, gradient: str | int) -> TrainState:
    model = models.load(module)
    curve = Curve(MIX.name, module, model.name, layers, "joint", ARMS["joint"].trains)
    run = Run(curve, Recipe(batch_size=gradient))
    engine = engines.load(model.engine)(GaussianContexts(MIX, n))
    return TrainState(run, engine, (MIX.dim, MIX.tasks), range(seeds))


def literal_step(n: int, batch: int, layers: int = 1) -> Step:
    """One seed, single precision, a new batch of sequences every step. Of one layer only the
    query's row is computed, as anyone would."""
    return literal_steps(attention(layers, 1, n, batch), n, batch)


def literal_steps(start: TrainState, n: int, batch: int, predicted_by=None) -> Step:
    params = {
        name: torch.as_tensor(value[0]).detach().float().clone().requires_grad_()
        for name, value in start.params.items()
    }
    optimizer = torch.optim.Adam(params.values(), lr=1e-3)
    generator = torch.Generator().manual_seed(0)

    def step() -> None:
        sequences = literal.draw_sequences(MIX, n, batch, generator, torch.float32)
        literal.training_step(params, optimizer, sequences, predicted_by)

    return step


def minibatch_step(n: int, seeds: int, batch: int, layers: int = 1) -> Step:
    return batch_step(attention(layers, seeds, n, batch))


def batch_step(trained: TrainState) -> Step:
    iterations = itertools.count()

    def step() -> None:
        iteration = next(iterations)
        asked = trained.run.recipe.data_at(iteration)
        trained.step(iteration, trained.engine.data(Stream.TRAINING, iteration, *asked))

    return step


def exact_step(n: int, seeds: int, inner: int = 20) -> Step:
    """`inner` steps at once: one alone is near the clock's noise."""
    trained = attention(1, seeds, n)
    data = trained.engine.data(Stream.TRAINING, 0, *trained.run.recipe.data_at(0))
    iterations = itertools.count()

    def steps() -> None:
        for _ in range(inner):
            trained.step(next(iterations), data)

    return steps


def cases(batch: int) -> dict[str, tuple[Step, int]]:
    """Name: what to time, and how many seed-steps it is."""
    found = {f"literal n={n}": (literal_step(n, batch), 1) for n in LENGTHS}
    for n, seeds in (*((n, SEEDS) for n in LENGTHS), (50, 1), (5000, SEEDS)):
        found[f"minibatch n={n}, {seeds} seeds"] = (minibatch_step(n, seeds, batch), seeds)
        found[f"exact n={n}, {seeds} seeds"] = (exact_step(n, seeds), 20 * seeds)
    for layers in (2, 3):
        found[f"literal L={layers}, n=20"] = (literal_step(20, batch, layers), 1)
        step = minibatch_step(20, SEEDS, batch, layers)
        found[f"gram L={layers}, n=20, {SEEDS} seeds"] = (step, SEEDS)
    few = max(1, batch // 8)
    for n in LENGTHS:
        start = made("softmax", 1, 1, n, few)
        step = literal_steps(start, n, few, literal.softmax_from_query)
        found[f"literal softmax n={n}"] = (step, 1)
        for seeds in (FEW, SEEDS):
            step = batch_step(made("softmax", 1, seeds, n, few))
            found[f"softmax n={n}, {seeds} seeds"] = (step, seeds)
    for layers in (1, 2):
        step = batch_step(made("transformer", layers, FEW, 10, few))
        found[f"transformer L={layers}, n=10, {FEW} seeds"] = (step, FEW)
    return found


RATIOS = {  # name: (numerator, denominator), of times per seed-step
    **{
        f"literal / {engine}, n = {n}": (f"literal n={n}", f"{engine} n={n}, {SEEDS} seeds")
        for engine in ("minibatch", "exact")
        for n in LENGTHS
    },
    **{
        f"{engine}, n = 5000 / n = 50": (
            f"{engine} n=5000, {SEEDS} seeds",
            f"{engine} n=50, {SEEDS} seeds",
        )
        for engine in ("minibatch", "exact")
    },
    "literal / gram, two layers, n = 20": ("literal L=2, n=20", f"gram L=2, n=20, {SEEDS} seeds"),
    "literal / gram, three layers, n = 20": ("literal L=3, n=20", f"gram L=3, n=20, {SEEDS} seeds"),
}
SOFTMAX_RATIOS = {  # the same, of softmax attention in smaller batches
    **{
        f"literal / here, n = {n}": (f"literal softmax n={n}", f"softmax n={n}, {SEEDS} seeds")
        for n in LENGTHS
    },
    "n = 50 / n = 10": (f"softmax n=50, {SEEDS} seeds", f"softmax n=10, {SEEDS} seeds"),
}
# Of whole steps: what 50 seeds cost over one.
BLOCK_RATIOS = ("minibatch", "exact")


def measure(steps: dict[str, tuple[Step, int]], repeats: int) -> dict[str, float]:
    """Median ms per seed-step. Rounds go through all cases, so that a slow moment of the
    machine does not fall on one of them; the first round warms up."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for round_number in range(repeats + 1):
        for name, (step, seed_steps) in steps.items():
            started = time.perf_counter()
            step()
            if round_number:
                times[name].append(1e3 * (time.perf_counter() - started) / seed_steps)
    return {name: statistics.median(values) for name, values in times.items()}


PARTS = {  # of a step on the exact gradient
    "attention to A₁ and a": (Attention, "forward"),
    "risk and gradient": (moments, "in_one_pass"),
    "gradient of attention": (Attention, "backward"),
    "Adam": (adam, "update"),
}


def profile(seeds: int, steps: int) -> dict[str, float]:
    """Median microseconds of a step and of its parts."""
    spent: dict[str, list[float]] = {name: [] for name in ("whole step", *PARTS)}

    def timed(name: str, function: Callable) -> Callable:
        def call(*args: object) -> object:
            started = time.perf_counter()
            result = function(*args)
            spent[name].append(1e6 * (time.perf_counter() - started))
            return result

        return call

    with ExitStack() as patches:
        for name, (owner, function) in PARTS.items():
            wrapped = timed(name, getattr(owner, function))
            patches.enter_context(mock.patch.object(owner, function, wrapped))
        step = timed("whole step", exact_step(50, seeds, inner=1))
        for _ in range(steps):
            step()
    return {name: float(f"{statistics.median(values):.3g}") for name, values in spent.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--batch", type=int, default=8192, help="contexts; softmax has an eighth")
    parser.add_argument("--steps", type=int, default=2000, help="on the exact gradient, in parts")
    args = parser.parse_args()
    torch.set_num_threads(1)
    times = measure(cases(args.batch), args.repeats)
    ratios, softmax = (
        {name: times[top] / times[bottom] for name, (top, bottom) in chosen.items()}
        for chosen in (RATIOS, SOFTMAX_RATIOS)
    )
    for engine in BLOCK_RATIOS:
        block, alone = (times[f"{engine} n=50, {seeds} seeds"] for seeds in (SEEDS, 1))
        ratios[f"{engine} step of {SEEDS} seeds / 1 seed"] = SEEDS * block / alone
    report = {
        "ms_per_seed_step": {name: float(f"{value:.4g}") for name, value in times.items()},
        "ratios": {name: float(f"{value:.4g}") for name, value in ratios.items()},
        "softmax_ratios": {name: float(f"{value:.4g}") for name, value in softmax.items()},
        "exact_step_us": {str(seeds): profile(seeds, args.steps) for seeds in (1, SEEDS)},
    }
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
