"""Layers on Gram matrices, against the literal model on the same sequences."""

from __future__ import annotations

import agreement
import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling.engines import gram
from decoupling.engines.gram import CompiledEngine
from decoupling.engines.gram_torch import BLOCK, Contexts, predictor
from decoupling.models.arms import ARMS
from decoupling.models.base import Model
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts
from mixtures import DoubleEngine, literal_risk, mixture, shape_name

SEEDS = range(3)
SHAPES = [(1, 2, 3, 0.5), (2, 1, 4, 0.0), (3, 2, 2, 0.7)]  # (d, K, n, σ²)
LAYERS = [2, 3, 4]


def model_and_parameters(
    mix: TaskMixture, arm: str, layers: int, std: float = 0.12
) -> tuple[Model, dict[str, torch.Tensor]]:
    """Small enough for a chain of cubes (degree 81 in the tokens at L = 4) not to run away."""
    model, arrays = mixtures.random_parameters(mix, "deep_attention", arm, SEEDS, layers, std)
    return model, {name: torch.from_numpy(array) for name, array in arrays.items()}


def one_seed(params: dict[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    return {name: tensor[seed] for name, tensor in params.items()}


@pytest.mark.parametrize("layers", LAYERS)
def test_only_the_last_row_sees_the_query(layers: int):
    """Appendix E reads row n + 1, which with a prompt token is the last example's: the mask hides
    the query from it, and a prediction that does not know x has at least the risk E[y²]."""
    mix, n = mixture(SHAPES[0])
    _, params = model_and_parameters(mix, "joint_heads", layers)
    sequences = literal.draw_sequences(mix, n, 10, torch.Generator().manual_seed(0))
    asked = [sequences.with_query(scale * torch.ones(mix.dim).double()) for scale in (1, -2)]
    one, other = (literal.outputs(one_seed(params, 0), question) for question in asked)
    assert one.shape[1] == n + 2
    torch.testing.assert_close(one[:, : n + 1], other[:, : n + 1], rtol=1e-12, atol=0)
    assert (one[:, n + 1] - other[:, n + 1]).abs().max() > 1  # the residual has x itself


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_prediction_is_the_literal_one(shape: tuple, layers: int, arm: str):
    """ŷ = [x; 0]ᵀv for every sequence, in double precision."""
    mix, n = mixture(shape)
    model, params = model_and_parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 40, torch.Generator().manual_seed(0))
    grams = literal.context_grams(sequences).permute(1, 2, 0).contiguous()
    tasks = torch.nn.functional.one_hot(sequences.task, mix.tasks).mT.double()
    predictors = predictor(model.forward(params), Contexts(grams, tasks))[:, :-1]
    found = torch.einsum("bd,sdb->sb", sequences.x[:, -1], predictors)
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
    trained = model.trained_shapes(ARMS[arm].trains)
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
def test_errors_are_those_of_the_literal_model(layers: int, arm: str):
    mix, n = mixture(SHAPES[2])
    model, params = model_and_parameters(mix, arm, layers)
    sequences = literal.draw_sequences(mix, n, 60, torch.Generator().manual_seed(2))
    batch = mixtures.gram_batch(sequences, mix.tasks)
    found = DoubleEngine(GaussianContexts(mix, n)).errors(model, params, batch) + mix.noise_var
    by_task = torch.argsort(sequences.task, stable=True)
    for seed in SEEDS:
        risks = literal_risk(one_seed(params, seed), sequences, mix)[by_task]
        np.testing.assert_allclose(found[seed], risks, rtol=1e-9)


# (d, K, n, σ², contexts): more than a block and less, sizes that no vector divides, one context.
# The last two have loops: with tiles left over, and of whole tiles but for one.
KERNEL_SHAPES = [
    *[(1, 2, 3, 0.5, 200), (3, 2, 2, 0.7, 5), (10, 2, 20, 5.0, 300), (7, 4, 9, 0.0, 1)],
    *[(30, 2, 40, 0.5, 70), (36, 1, 10, 0.1, 20)],
]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("importance", [False, True], ids=["ordinary", "importance"])
@pytest.mark.parametrize("shape", KERNEL_SHAPES, ids=lambda shape: f"d{shape[0]}-K{shape[1]}")
def test_compiled_pass_against_autograd_in_double_precision(
    shape: tuple, importance: bool, layers: int, arm: str
):
    """Risk, gradient and the errors of every context. What was in `out` does not count. A sum of
    products of `depth` factors in single precision is off by some multiples of 6e-8 of the largest;
    entries are compared with the largest of their seed and parameter."""
    (*rest, count) = shape
    mix, n = mixture(tuple(rest))
    contexts = GaussianContexts(mix, n)
    # single precision has no number for degree 80 of the rarest contexts at the usual spread
    spread = (0.1 if importance else 0.3) / (n * mix.dim) ** 0.5
    model, params = model_and_parameters(mix, arm, layers, std=spread)
    single = {name: tensor.float().numpy() for name, tensor in params.items()}
    exact = {name: torch.from_numpy(array).double() for name, array in single.items()}
    batch = (contexts.importance_batch if importance else contexts.batch)(Stream.TRAINING, 0, count)
    engine, oracle = CompiledEngine(contexts), DoubleEngine(contexts)
    out = {name: np.ones_like(single[name]) for name in model.trained_shapes(ARMS[arm].trains)}
    wanted = {name: torch.ones_like(exact[name]) for name in out}
    risks = engine.risk_and_gradient(model, batch, single, out)
    np.testing.assert_allclose(
        risks, oracle.risk_and_gradient(model, batch, exact, wanted), rtol=1e-5
    )
    for name, found in out.items():
        expected = wanted[name].numpy()
        scale = np.abs(expected).max(tuple(range(1, expected.ndim)), keepdims=True)
        assert (np.abs(found - expected) <= 2e-5 * scale + 1e-12).all(), name
    errors = engine.errors(model, single, batch)
    assert errors.shape == (len(SEEDS), count)
    np.testing.assert_allclose(errors, oracle.errors(model, exact, batch), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_and_blocks_of_seeds_change_no_bit(threads: int):
    mix, n = mixture(SHAPES[2])
    contexts = GaussianContexts(mix, n)
    model, params = model_and_parameters(mix, "joint_heads", 3)
    single = {name: tensor.float().numpy() for name, tensor in params.items()}
    batch = contexts.batch(Stream.TRAINING, 0, 100)
    agreement.assert_threads_change_no_bit(CompiledEngine, contexts, model, batch, single, threads)


def test_a_diverged_seed_leaves_the_others_alone():
    mix, n = mixture(SHAPES[2])
    contexts = GaussianContexts(mix, n)
    model, params = model_and_parameters(mix, "joint", 3)
    single = {name: tensor.float().numpy() for name, tensor in params.items()}
    batch, engine = contexts.batch(Stream.TRAINING, 0, 100), CompiledEngine(contexts)
    agreement.assert_a_diverged_seed_is_alone(engine, model, batch, single, (np.nan, 1e30))


@pytest.mark.parametrize("dim", [3, 200])
def test_only_gpus_are_left_to_torch(dim: int):
    mix = mixtures.random_mixture(np.random.default_rng(0), dim, 1, 0.0)
    assert isinstance(gram.engine(GaussianContexts(mix, 2)), CompiledEngine)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("layers", LAYERS)
def test_heldout_risk_against_simulation(layers: int, arm: str):
    """Sampled Gram matrices in single precision, as training uses them, against literal
    sequences: within 4 standard errors of the difference, one false alarm in 16,000. With
    weights so small that no single context decides over the mean."""
    mix, n = mixture(SHAPES[2])
    model, params = model_and_parameters(mix, arm, layers, std={2: 0.09, 3: 0.07, 4: 0.03}[layers])
    single = {name: tensor.float().numpy() for name, tensor in params.items()}
    engine = CompiledEngine(GaussianContexts(mix, n))
    (test,) = engine.test([(model, single)], 20_000)
    sequences = literal.draw_sequences(mix, n, 20_000, torch.Generator().manual_seed(3))
    simulated = literal.squared_errors(one_seed(params, 0), sequences).numpy()
    spread = (test.risk_se[0] ** 2 + simulated.var() / len(simulated)) ** 0.5
    assert spread < 0.05 * test.risk[0]
    assert abs(test.risk[0] - simulated.mean()) < 4 * spread
