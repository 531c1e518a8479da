"""The layer chain on Gram matrices, against the literal model on the same sequences."""

from __future__ import annotations

import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling import deep
from decoupling.models import trained_shapes
from decoupling.recipes import ARMS
from decoupling.sampling import GramSampler
from decoupling.spec import TaskMixture
from mixtures import literal_risk

SEEDS = range(3)
SHAPES = [(1, 2, 3, 0.5), (2, 1, 4, 0.0), (3, 2, 2, 0.7)]  # (d, K, n, σ²)
SHAPE_NAMES = [f"d{d}-K{k}-n{n}-noise{s}" for d, k, n, s in SHAPES]
LAYERS = [2, 3, 4]


def mixture(shape: tuple) -> tuple[TaskMixture, int]:
    dim, tasks, n, noise = shape
    return mixtures.random_mixture(np.random.default_rng([dim, tasks, n]), dim, tasks, noise), n


def parameters(mix: TaskMixture, arm: str, layers: int) -> dict[str, torch.Tensor]:
    """Small enough for a chain of cubes (degree 81 in the tokens at L = 4) not to run away."""
    _, arrays = mixtures.random_parameters(mix, "attention", arm, SEEDS, layers, std=0.12)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def one_seed(params: dict[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    return {name: tensor[seed] for name, tensor in params.items()}


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_prediction_is_the_literal_one(shape: tuple, layers: int, arm: str):
    """ŷ = [x; 0]ᵀv for every sequence, in double precision."""
    mix, n = mixture(shape)
    params = parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 40, torch.Generator().manual_seed(0))
    grams = literal.context_grams(sequences).permute(1, 2, 0).contiguous()
    tasks = torch.nn.functional.one_hot(sequences.task, mix.tasks).mT.double()
    predictor = deep._Chain(grams, tasks, params).predictor()[:, :-1]
    found = torch.einsum("bd,sdb->sb", sequences.x[:, -1], predictor)
    for seed in SEEDS:
        expected = literal.predict(one_seed(params, seed), sequences)
        torch.testing.assert_close(found[seed], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_gradient_against_literal_autograd(layers: int, arm: str):
    """Of what the arm trains; more contexts than a block holds, so that blocks must add up."""
    mix, n = mixture(SHAPES[2])
    shapes = trained_shapes(mixtures.MODELS["attention"](mix.dim, mix.tasks, layers), ARMS[arm])
    params = parameters(mix, arm, layers)
    for name in shapes:
        params[name].requires_grad_()
    sequences = literal.draw_sequences(mix, n, 1200, torch.Generator().manual_seed(1))
    batch = mixtures.gram_batch(sequences, mix.tasks)
    assert batch.size > deep.BLOCK
    out = {name: torch.zeros_like(params[name]) for name in shapes}
    sigma_x = torch.tensor(mix.sigma_x)
    value = deep.batch_risk_and_gradient(batch, params, sigma_x, mix.noise_var, out)
    losses = [literal_risk(one_seed(params, seed), sequences, mix).mean() for seed in SEEDS]
    expected = torch.autograd.grad(sum(losses), [params[name] for name in shapes])
    torch.testing.assert_close(value, torch.stack(losses).detach(), rtol=1e-9, atol=0)
    for found, wanted in zip(out.values(), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_heldout_risk_and_its_error_are_the_batchs(layers: int, arm: str):
    mix, n = mixture(SHAPES[2])
    params = parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 60, torch.Generator().manual_seed(2))
    batch = mixtures.gram_batch(sequences, mix.tasks)
    means, errors = deep.heldout_risk(batch, params, torch.tensor(mix.sigma_x), mix.noise_var)
    for seed in SEEDS:
        risks = literal_risk(one_seed(params, seed), sequences, mix)
        torch.testing.assert_close(means[seed], risks.mean(), rtol=1e-9, atol=0)
        torch.testing.assert_close(errors[seed], risks.std() / 60**0.5, rtol=1e-9, atol=0)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_heldout_risk_against_simulation(layers: int, arm: str):
    """Sampled Gram matrices in single precision, as training uses them, against literal
    sequences: within 4 standard errors of the difference, one false alarm in 16,000."""
    mix, n = mixture(SHAPES[2])
    params = parameters(mix, arm, layers)
    single = {name: tensor.float() for name, tensor in params.items()}
    batch = GramSampler(mix, n, "test").batch(0, 20_000)
    sigma_x = torch.tensor(mix.sigma_x, dtype=torch.float32)
    means, errors = deep.heldout_risk(batch, single, sigma_x, mix.noise_var)
    sequences = literal.draw_sequences(mix, n, 20_000, torch.Generator().manual_seed(3))
    simulated = literal.squared_errors(one_seed(params, 0), sequences)
    spread = (errors[0] ** 2 + simulated.var() / len(simulated)) ** 0.5
    assert abs(means[0] - simulated.mean()) < 4 * spread
