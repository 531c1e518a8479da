"""The exact one-layer risk and its gradient, against literal sequences and autograd."""

from __future__ import annotations

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import z_score
from decoupling.models import trained_shapes
from decoupling.moments import Moments, batch_moments, population_moments
from decoupling.recipes import ARMS
from decoupling.risk import OneLayer, risk, risk_and_gradient
from mixtures import MODEL_ARMS

SEQUENCES = 40_000
SEEDS = range(3)
# (d, K, n, σ²); D = d + 1, so n < D, n = D and n > D are all there.
SHAPES = [(1, 2, 1, 0.5), (2, 1, 2, 0.0), (3, 2, 1, 0.7), (3, 3, 4, 0.0), (2, 2, 9, 0.3)]
SHAPE_NAMES = [f"d{d}-K{k}-n{n}-noise{s}" for d, k, n, s in SHAPES]


def mixture(shape: tuple) -> tuple:
    dim, tasks, n, noise = shape
    return mixtures.random_mixture(np.random.default_rng([dim, tasks, n]), dim, tasks, noise), n


def leaves(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}


def one_seed(params: dict[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    return {name: tensor[seed] for name, tensor in params.items()}


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_risk_against_literal_sequences(shape: tuple, model: str, arm: str):
    """Within 4 standard errors for a random seed: one false alarm in 16,000 comparisons."""
    mix, n = mixture(shape)
    made, params = mixtures.random_parameters(mix, model, arm, SEEDS)
    exact = risk(population_moments(mix, n), made.one_layer(params))
    generator = torch.Generator().manual_seed(0)
    sequences = literal.draw_sequences(mix, n, SEQUENCES, generator)
    errors = literal.squared_errors(one_seed(params, 1), sequences)
    assert abs(z_score(errors.numpy(), exact[1].item())) < 4


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_gradient_of_parameters_against_autograd(shape: tuple, model: str, arm: str):
    """Through `one_layer` and `pull_back`, for exactly what the arm trains."""
    mix, n = mixture(shape)
    made, values = mixtures.random_parameters(mix, model, arm, SEEDS)
    params, moments = leaves(values), population_moments(mix, n)
    trained = [params[name] for name in trained_shapes(made, ARMS[arm])]
    expected = torch.autograd.grad(risk(moments, made.one_layer(params)).sum(), trained)
    out = {name: torch.zeros_like(params[name]) for name in trained_shapes(made, ARMS[arm])}
    value, grad = risk_and_gradient(moments, made.one_layer(values))
    made.pull_back(values, grad, out)
    torch.testing.assert_close(value, risk(moments, made.one_layer(values)), rtol=1e-12, atol=0)
    for written, wanted in zip(out.values(), expected, strict=True):
        torch.testing.assert_close(written, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prompts", [True, False], ids=["prompts", "no prompts"])
@pytest.mark.parametrize("task_heads", [True, False], ids=["task heads", "shared head"])
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_gradient_of_one_layer_against_autograd(shape: tuple, task_heads: bool, prompts: bool):
    mix, n = mixture(shape)
    generator, size, seeds = torch.Generator().manual_seed(1), mix.dim + 1, len(SEEDS)
    shapes = {"query": (seeds, mix.dim, size)}
    shapes["heads"] = (mix.tasks if task_heads else 1, seeds, size)
    if prompts:
        shapes["prompts"] = (mix.tasks, seeds, size)
    values = leaves(
        {k: torch.randn(*s, generator=generator, dtype=torch.float64) for k, s in shapes.items()}
    )
    model = OneLayer(**{"prompts": None, **values})
    moments = population_moments(mix, n)
    expected = torch.autograd.grad(risk(moments, model).sum(), list(values.values()))
    _, grad = risk_and_gradient(moments, model)
    for name, wanted in zip(values, expected, strict=True):
        torch.testing.assert_close(getattr(grad, name), wanted, rtol=1e-9, atol=1e-9)
    assert prompts or grad.prompts is None


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_batch_risk_is_the_literal_batch_loss(shape: tuple, model: str, arm: str):
    """On the same contexts, query integrated out: equal to float precision, seed by seed."""
    mix, n = mixture(shape)
    made, params = mixtures.random_parameters(mix, model, arm, SEEDS)
    sequences = literal.draw_sequences(mix, n, 20, torch.Generator().manual_seed(2))
    found = risk(_moments_of(sequences, mix), made.one_layer(params))
    sigma_x = torch.tensor(mix.sigma_x)
    for seed in SEEDS:
        gap = literal.predictors(one_seed(params, seed), sequences) - sequences.beta
        expected = ((gap @ sigma_x) * gap).sum(1).mean() + mix.noise_var
        torch.testing.assert_close(found[seed], expected, rtol=1e-9, atol=0)


def _moments_of(sequences: literal.Sequences, mix) -> Moments:
    return batch_moments(mixtures.gram_batch(sequences, mix.tasks), mix)
