"""Task mixtures to test on: the paper's settings and random ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from decoupling import models
from decoupling.engines.gram_torch import TorchEngine
from decoupling.models.arms import ARMS
from decoupling.problem.gaussian_moments import population_moments
from decoupling.problem.gram import GramBatch
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.one_layer import OneLayer, risk
from decoupling.sources.gaussian.block import make_spec
from decoupling.theory.solution import Solution
from literal import Sequences, context_grams, predictors

NONISO = [0.9] + [0.9**-i for i in range(1, 10)]
_MEANS = {"a": [1.7, -1.3], "c": [2.1, -0.9], "d": [1.4, -0.6]}


def _block(means: list, covs: list, weights: tuple = (0.3, 0.7), **more) -> dict:
    return {"d": 10, "weights": list(weights), "means": means, "covs": covs, **more}


PAPER_BLOCKS = {
    "fig2a": _block(_MEANS["a"], [1, 1]),
    "fig2b": _block([0, 0], [1, 2], (0.5, 0.5)),
    "fig2c": _block(_MEANS["c"], [1, 1]),
    "fig2d": _block(_MEANS["d"], [1, 2]),
    "figA1a": _block(_MEANS["a"], [1, 1], noise_var=5),
    "figA1b": _block(_MEANS["c"], [1, 1], noise_var=5),
    "figA1c": _block(_MEANS["a"], [1, 1], cov_base=NONISO, noise_var=5),
    "figA1d": _block(_MEANS["d"], [1, 2], cov_base=NONISO, noise_var=5),
    "figA2a": _block(_MEANS["a"], [1, 2], cov_base=NONISO),
    "figA2d": _block(_MEANS["a"], [1, 2], cov_base=NONISO, noise_var=5),
}


def paper(name: str) -> TaskMixture:
    return make_spec(name, PAPER_BLOCKS[name])


def random_spd(rng: np.random.Generator, dim: int) -> np.ndarray:
    """Eigenvalues in [0.5, 2], so that inverses keep 1e-10 within reach. Rounded, because random
    streams depend on a mixture's numbers to the last digit: else every kind of processor, whose
    products end in digits of its own, would draw contexts of its own."""
    basis, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    matrix = (basis * rng.uniform(0.5, 2, dim)) @ basis.T
    return np.round((matrix + matrix.T) / 2, 9)


def random_mixture(rng: np.random.Generator, dim: int, tasks: int, noise: float) -> TaskMixture:
    """Nothing commutes, nothing is equal."""
    return TaskMixture(
        f"random{dim}x{tasks}",
        rng.dirichlet(np.full(tasks, 5.0)),
        rng.standard_normal((tasks, dim)),
        np.stack([random_spd(rng, dim) for _ in range(tasks)]),
        random_spd(rng, dim),
        noise,
    )


def mixture(shape: tuple[int, int, int, float]) -> tuple[TaskMixture, int]:
    """A random mixture by (d, K, n, σ²), and n."""
    dim, tasks, n, noise = shape
    return random_mixture(np.random.default_rng([dim, tasks, n]), dim, tasks, noise), n


def shape_name(shape: tuple[int, int, int, float]) -> str:
    return "d{}-K{}-n{}-noise{}".format(*shape)


def random_cases(count: int, max_tasks: int = 4) -> list[tuple[TaskMixture, int]]:
    """Mixtures with d in 1…8, K in 1…max_tasks and n in 1…60; every third is noise-free."""
    rng = np.random.default_rng(2503)
    return [
        (
            random_mixture(
                rng,
                int(rng.integers(1, 9)),
                int(rng.integers(1, max_tasks + 1)),
                float(rng.uniform(0, 3)) if i % 3 else 0.0,
            ),
            int(rng.integers(1, 61)),
        )
        for i in range(count)
    ]


def case_name(case: tuple[TaskMixture, int]) -> str:
    mix, n = case
    return f"d{mix.dim}-K{mix.tasks}-n{n}-noise{mix.noise_var:.1f}"


# Every model with the arms it has: the reduced model has no heads.
MODEL_ARMS = [("attention", arm) for arm in ARMS] + [
    ("reduced", arm) for arm in ARMS if not ARMS[arm].trains.heads
]


def random_parameters(
    mix: TaskMixture, module: str, arm: str, seeds: range, layers: int = 1, std: float = 0.5
) -> tuple[models.Model, dict[str, np.ndarray]]:
    """A model with random weights and whatever else the arm gives it, batched over seeds."""
    made = models.load(module)(mix.dim, mix.tasks, layers)
    # heads, too, are random
    everything = made.initial_values(ARMS["joint_heads"].trains, seeds, std)
    shapes = {**made.weight_shapes, **made.trained_shapes(ARMS[arm].trains)}
    # of prompts, as many as the arm has: one for all tasks, or one for each
    return made, {name: everything[name][:, : shape[0]] for name, shape in shapes.items()}


def exact_risk(mix: TaskMixture, n: int, solution: Solution) -> float:
    """The exact risk of a closed form's parameters."""
    prompts = None if solution.prompts is None else solution.prompts[:, None]
    model = OneLayer(solution.scores[None], solution.readouts[:, None], prompts)
    return risk(population_moments(mix, n), model).item()


class DoubleEngine(TorchEngine):
    """The arithmetic of deeper models with enough digits to compare."""

    def from_numpy(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).double()


def tensors(params: Mapping[str, np.ndarray], seed: int) -> dict[str, torch.Tensor]:
    """One seed's parameters, as the literal implementation takes them."""
    return {name: torch.from_numpy(array[seed]) for name, array in params.items()}


def literal_risk(
    params: Mapping[str, torch.Tensor], sequences: Sequences, mix: TaskMixture
) -> torch.Tensor:
    """The literal model's risk on every context, query and its noise integrated out; [B]."""
    gap = predictors(params, sequences) - sequences.beta
    return ((gap @ torch.tensor(mix.sigma_x)) * gap).sum(1) + mix.noise_var


def gram_batch(sequences: Sequences, tasks: int) -> GramBatch:
    """The library's view of literal sequences."""
    grams, members = context_grams(sequences), [sequences.task == k for k in range(tasks)]
    rows, columns = np.triu_indices(grams.shape[1])
    return GramBatch(
        [grams[member][:, rows, columns].T.contiguous().numpy() for member in members],
        [sequences.beta[member].T.contiguous().numpy() for member in members],
    )
