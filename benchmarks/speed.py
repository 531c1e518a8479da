"""Time of one training step, on one thread: this library against the literal implementation.

    python benchmarks/speed.py [--repeats 7]

Prints JSON: milliseconds per step and seed (the median of interleaved repeats, data drawn in
the step), their ratios, and where a step on the exact gradient spends its time. fig2a's mixture,
joint training, batches of 8192 contexts.
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

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is first imported

import torch  # noqa: E402

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import literal  # noqa: E402
from decoupling import tracks  # noqa: E402
from decoupling.expand import mixture_from_config  # noqa: E402
from decoupling.models import Attention  # noqa: E402
from decoupling.moments import batch_moments, population_moments  # noqa: E402
from decoupling.recipes import Recipe, Task  # noqa: E402
from decoupling.sampling import GramSampler  # noqa: E402
from decoupling.tracks import Track  # noqa: E402

BATCH = 8192
SEEDS = 50
FIG2A = {"d": 10, "weights": [0.3, 0.7], "means": [1.7, -1.3], "covs": [1, 1]}
MIX = mixture_from_config("fig2a", FIG2A)

Step = Callable[[], object]


def track(layers: int, seeds: int, gradient: str | int = "exact") -> Track:
    task = Task("attention", layers, "joint", Recipe(gradient=gradient))
    return Track(task, MIX, range(seeds), {}, "cpu")


def literal_step(n: int, layers: int = 1, fresh: bool = True) -> Step:
    """One seed, single precision; with `fresh`, a new batch of sequences every step."""
    start = track(layers, 1).params
    params = {
        name: torch.as_tensor(value[0]).detach().float().clone().requires_grad_()
        for name, value in start.items()
    }
    optimizer = torch.optim.Adam(params.values(), lr=1e-3)
    generator = torch.Generator().manual_seed(0)

    def draw() -> literal.Sequences:
        return literal.draw_sequences(MIX, n, BATCH, generator, torch.float32)

    kept = draw()
    return lambda: literal.training_step(params, optimizer, draw() if fresh else kept)


def minibatch_step(n: int, seeds: int, layers: int = 1) -> Step:
    trained, sampler = track(layers, seeds, BATCH), GramSampler(MIX, n, "benchmark")
    iterations = itertools.count()

    def step() -> None:
        iteration = next(iterations)
        batch = sampler.batch(iteration, BATCH)
        trained.step(iteration, batch_moments(batch, MIX) if layers == 1 else batch)

    return step


def exact_step(n: int, seeds: int, inner: int = 20) -> Step:
    """`inner` steps at once: one alone is near the clock's noise."""
    trained, moments = track(1, seeds), population_moments(MIX, n)
    iterations = itertools.count()

    def steps() -> None:
        for _ in range(inner):
            trained.step(next(iterations), moments)

    return steps


def cases() -> dict[str, tuple[Step, int]]:
    """Name: what to time, and how many seed-steps it is."""
    found = {
        "literal n=50": (literal_step(50), 1),
        "literal n=50, data given": (literal_step(50, fresh=False), 1),
    }
    for n, seeds in ((50, SEEDS), (50, 1), (5000, SEEDS)):
        found[f"minibatch n={n}, {seeds} seeds"] = (minibatch_step(n, seeds), seeds)
        found[f"exact n={n}, {seeds} seeds"] = (exact_step(n, seeds), 20 * seeds)
    for layers in (2, 3):
        found[f"literal L={layers}, n=20"] = (literal_step(20, layers), 1)
        found[f"gram L={layers}, n=20, {SEEDS} seeds"] = (minibatch_step(20, SEEDS, layers), SEEDS)
    return found


RATIOS = {  # name: (numerator, denominator), of times per seed-step
    "literal / minibatch": ("literal n=50", f"minibatch n=50, {SEEDS} seeds"),
    "literal / exact": ("literal n=50", f"exact n=50, {SEEDS} seeds"),
    "literal with data given / minibatch": (
        "literal n=50, data given",
        f"minibatch n=50, {SEEDS} seeds",
    ),
    "minibatch n=5000 / n=50": (
        f"minibatch n=5000, {SEEDS} seeds",
        f"minibatch n=50, {SEEDS} seeds",
    ),
    "exact n=5000 / n=50": (f"exact n=5000, {SEEDS} seeds", f"exact n=50, {SEEDS} seeds"),
    "literal / gram, two layers": ("literal L=2, n=20", f"gram L=2, n=20, {SEEDS} seeds"),
    "literal / gram, three layers": ("literal L=3, n=20", f"gram L=3, n=20, {SEEDS} seeds"),
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
    "attention to A₁ and a": (Attention, "one_layer"),
    "risk and gradient": (tracks, "risk_and_gradient"),
    "gradient of attention": (Attention, "pull_back"),
    "Adam": (Track, "_adam"),
}


def profile(seeds: int, steps: int = 2000) -> dict[str, float]:
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
    args = parser.parse_args()
    torch.set_num_threads(1)
    times = measure(cases(), args.repeats)
    ratios = {name: times[top] / times[bottom] for name, (top, bottom) in RATIOS.items()}
    for engine in BLOCK_RATIOS:
        block, alone = (times[f"{engine} n=50, {seeds} seeds"] for seeds in (SEEDS, 1))
        ratios[f"{engine} step of {SEEDS} seeds / 1 seed"] = SEEDS * block / alone
    report = {
        "ms_per_seed_step": {name: float(f"{value:.4g}") for name, value in times.items()},
        "ratios": {name: float(f"{value:.4g}") for name, value in ratios.items()},
        "exact_step_us": {str(seeds): profile(seeds) for seeds in (1, SEEDS)},
    }
    print(json.dumps(report, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
