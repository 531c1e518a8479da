"""The layer chain on Gram matrices, against the literal model on the same sequences."""

from __future__ import annotations

import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling.engines.gram import BLOCK, Contexts, GramEngine
from decoupling.models import Model
from decoupling.models.arms import ARMS
from decoupling.problem.mixture import TaskMixture
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.train.recipe import Recipe
from mixtures import DoubleEngine, literal_risk

SEEDS = range(3)
SHAPES = [(1, 2, 3, 0.5), (2, 1, 4, 0.0), (3, 2, 2, 0.7)]  # (d, K, n, σ²)
SHAPE_NAMES = [f"d{d}-K{k}-n{n}-noise{s}" for d, k, n, s in SHAPES]
LAYERS = [2, 3, 4]


def mixture(shape: tuple) -> tuple[TaskMixture, int]:
    dim, tasks, n, noise = shape
    return mixtures.random_mixture(np.random.default_rng([dim, tasks, n]), dim, tasks, noise), n


def model_and_parameters(
    mix: TaskMixture, arm: str, layers: int, std: float = 0.12
) -> tuple[Model, dict[str, torch.Tensor]]:
    """Small enough for a chain of cubes (degree 81 in the tokens at L = 4) not to run away."""
    model, arrays = mixtures.random_parameters(mix, "layered", arm, SEEDS, layers, std)
    return model, {name: torch.from_numpy(array) for name, array in arrays.items()}


def one_seed(params: dict[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    return {name: tensor[seed] for name, tensor in params.items()}


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_NAMES)
def test_prediction_is_the_literal_one(shape: tuple, layers: int, arm: str):
    """ŷ = [x; 0]ᵀv for every sequence, in double precision."""
    mix, n = mixture(shape)
    model, params = model_and_parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 40, torch.Generator().manual_seed(0))
    grams = literal.context_grams(sequences).permute(1, 2, 0).contiguous()
    tasks = torch.nn.functional.one_hot(sequences.task, mix.tasks).mT.double()
    predictor = model.predictor(params, Contexts(grams, tasks))[:, :-1]
    found = torch.einsum("bd,sdb->sb", sequences.x[:, -1], predictor)
    for seed in SEEDS:
        expected = literal.predict(one_seed(params, seed), sequences)
        torch.testing.assert_close(found[seed], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_gradient_against_literal_autograd(layers: int, arm: str):
    """Of what the arm trains; more contexts than a block holds, so that blocks must add up. What
    was in `out` does not count."""
    mix, n = mixture(SHAPES[2])
    model, params = model_and_parameters(mix, arm, layers)
    trained = model.trained_shapes(ARMS[arm])
    sequences = literal.draw_sequences(mix, n, 1200, torch.Generator().manual_seed(1))
    batch = mixtures.gram_batch(sequences, mix.tasks)
    assert batch.size > BLOCK
    out = {name: torch.ones_like(params[name]) for name in trained}
    value = DoubleEngine(GaussianContexts(mix, n)).risk_and_gradient(model, batch, params, out)
    for name in trained:
        params[name].requires_grad_()
    losses = [literal_risk(one_seed(params, seed), sequences, mix).mean() for seed in SEEDS]
    expected = torch.autograd.grad(sum(losses), [params[name] for name in trained])
    np.testing.assert_allclose(value, torch.stack(losses).detach(), rtol=1e-9, atol=0)
    for found, wanted in zip(out.values(), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_heldout_risk_and_its_error_are_the_batchs(layers: int, arm: str):
    mix, n = mixture(SHAPES[2])
    model, params = model_and_parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 60, torch.Generator().manual_seed(2))
    batch = mixtures.gram_batch(sequences, mix.tasks)
    means, errors = DoubleEngine(GaussianContexts(mix, n))._heldout(model, params, batch)
    for seed in SEEDS:
        risks = literal_risk(one_seed(params, seed), sequences, mix)
        assert means[seed] == pytest.approx(risks.mean().item(), rel=1e-9)
        assert errors[seed] == pytest.approx(risks.std().item() / 60**0.5, rel=1e-9)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_heldout_risk_against_simulation(layers: int, arm: str):
    """Sampled Gram matrices in single precision, as training uses them, against literal
    sequences: within 4 standard errors of the difference, one false alarm in 16,000. With
    weights so small that no single context decides over the mean."""
    mix, n = mixture(SHAPES[2])
    model, params = model_and_parameters(mix, arm, layers, std={2: 0.09, 3: 0.07, 4: 0.06}[layers])
    single = {name: tensor.float() for name, tensor in params.items()}
    engine = GramEngine(GaussianContexts(mix, n))
    test = engine.test(model, single, Recipe(test_contexts=20_000))
    sequences = literal.draw_sequences(mix, n, 20_000, torch.Generator().manual_seed(3))
    simulated = literal.squared_errors(one_seed(params, 0), sequences).numpy()
    spread = (test.error[0] ** 2 + simulated.var() / len(simulated)) ** 0.5
    assert spread < 0.05 * test.report[0]
    assert abs(test.report[0] - simulated.mean()) < 4 * spread
