"""The exact one-layer risk and its gradient, against literal sequences and autograd."""

from __future__ import annotations

from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from agreement import z_score
from decoupling.models.arms import ARMS
from decoupling.problem.each_context import PAYS_FROM, EachContext, each_context
from decoupling.problem.gaussian_moments import population_moments
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.moments import Moments, batch_moments
from decoupling.problem.one_layer import OneLayer, risk, risk_and_gradient
from decoupling.sources.gaussian.contexts import GaussianContexts
from mixtures import MODEL_ARMS, literal_risk, mixture, shape_name, tensors

SEQUENCES = 40_000
SEEDS = range(3)
# (d, K, n, σ²); D = d + 1, so n < D, n = D and n > D are all there.
SHAPES = [(1, 2, 1, 0.5), (2, 1, 2, 0.0), (3, 2, 1, 0.7), (3, 3, 4, 0.0), (2, 2, 9, 0.3)]


def drawn(mix: TaskMixture, n: int, count: int) -> tuple[literal.Sequences, Moments]:
    """Literal sequences, and the moments of exactly these contexts."""
    sequences = literal.draw_sequences(mix, n, count, torch.Generator().manual_seed(0))
    return sequences, batch_moments(mixtures.gram_batch(sequences, mix.tasks), mix)


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_risk_against_literal_sequences(shape: tuple, model: str, arm: str):
    """Within 4 standard errors for a random seed: one false alarm in 16,000 comparisons."""
    mix, n = mixture(shape)
    made, params = mixtures.random_parameters(mix, model, arm, SEEDS)
    exact = risk(population_moments(mix, n), made.forward(params))
    generator = torch.Generator().manual_seed(0)
    sequences = literal.draw_sequences(mix, n, SEQUENCES, generator)
    errors = literal.squared_errors(tensors(params, 1), sequences)
    assert abs(z_score(errors.numpy(), exact[1])) < 4


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_risk_and_gradient_are_the_literal_models(shape: tuple, model: str, arm: str):
    """On the same contexts, against autograd through tokens and attention, seed by seed; through
    `forward` and `backward`, for exactly what the arm trains."""
    mix, n = mixture(shape)
    made, params = mixtures.random_parameters(mix, model, arm, SEEDS)
    sequences, moments = drawn(mix, n, 20)
    out = {name: np.zeros_like(params[name]) for name in made.trained_shapes(ARMS[arm].trains)}
    value, grad = risk_and_gradient(moments, made.forward(params))
    made.backward(params, grad, out)
    np.testing.assert_allclose(risk(moments, made.forward(params)), value, rtol=1e-12)
    for seed in SEEDS:
        leaves = {name: leaf.requires_grad_() for name, leaf in tensors(params, seed).items()}
        loss = literal_risk(leaves, sequences, mix).mean()
        assert value[seed] == pytest.approx(loss.item(), rel=1e-9)
        expected = torch.autograd.grad(loss, [leaves[name] for name in out])
        for found, wanted in zip(out.values(), expected, strict=True):
            np.testing.assert_allclose(found[seed], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("sigma_x", [True, False], ids=["any x", "white x"])
def test_risk_context_by_context_is_that_of_moments(model: str, arm: str, sigma_x: bool):
    """Of a batch of more than one part that lacks a task; single precision against double."""
    mix, n = mixture((5, 3, 4, 0.3))
    mix = replace(mix, weights=np.array([0.4, 0.6, 0.0]))
    if not sigma_x:
        mix = replace(mix, sigma_x=np.eye(mix.dim))
    batch = GaussianContexts(mix, n).batch(1, 0, 2000)
    made, params = mixtures.random_parameters(mix, model, arm, SEEDS)
    one_layer = made.forward(params)
    value, grad = each_context(batch, mix).risk_and_gradient(one_layer)
    expected_value, expected = risk_and_gradient(batch_moments(batch, mix), one_layer)
    np.testing.assert_allclose(value, expected_value, rtol=1e-5)
    for name in ("scores", "readouts", "prompts"):
        found, wanted = getattr(grad, name), getattr(expected, name)
        if wanted is None:
            assert found is None
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_batches_of_large_matrices_have_no_fourth_moments():
    block = dict(weights=[0.5, 0.5], means=[0, 0], covs=[1, 1])
    sizes = PAYS_FROM - 1, PAYS_FROM
    mixes = [mixtures.make_spec("large", block | {"d": d}) for d in sizes]
    found = [GaussianContexts(mix, 3).batch_moments(1, 0, 4, 1.0) for mix in mixes]
    assert [type(one) for one in found] == [Moments, EachContext]


def gram_risk(
    sequences: literal.Sequences, mix: TaskMixture, model: dict[str, torch.Tensor]
) -> torch.Tensor:
    """Every seed's risk from u = A₁(S + p_k p_kᵀ)a_k, context by context."""
    k, grams = sequences.task, literal.context_grams(sequences)
    readouts = model["readouts"].expand(mix.tasks, -1, -1)[k]  # [B, seeds, D]
    features = torch.einsum("bij,bsj->bsi", grams, readouts)
    if "prompts" in model:
        prompts = model["prompts"][k]
        features = features + prompts * (prompts * readouts).sum(-1, keepdim=True)
    gap = torch.einsum("sij,bsj->bsi", model["scores"], features) - sequences.beta[:, None]
    errors = torch.einsum("bsi,ij,bsj->bs", gap, torch.tensor(mix.sigma_x), gap)
    return errors.mean(0) + mix.noise_var


@pytest.mark.parametrize("prompts", [True, False], ids=["prompts", "no prompts"])
@pytest.mark.parametrize("task_heads", [True, False], ids=["task heads", "shared head"])
@pytest.mark.parametrize("shape", SHAPES, ids=shape_name)
def test_gradient_of_one_layer_against_autograd(shape: tuple, task_heads: bool, prompts: bool):
    mix, n = mixture(shape)
    rng, size, seeds = np.random.default_rng(1), mix.dim + 1, len(SEEDS)
    arrays = {
        "scores": rng.standard_normal((seeds, mix.dim, size)),
        "readouts": rng.standard_normal((mix.tasks if task_heads else 1, seeds, size)),
    }
    if prompts:
        arrays["prompts"] = rng.standard_normal((mix.tasks, seeds, size))
    sequences, moments = drawn(mix, n, 20)
    leaves = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
    loss = gram_risk(sequences, mix, leaves)
    value, grad = risk_and_gradient(moments, OneLayer(**{"prompts": None, **arrays}))
    np.testing.assert_allclose(value, loss.detach(), rtol=1e-9)
    expected = torch.autograd.grad(loss.sum(), list(leaves.values()))
    for name, wanted in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(getattr(grad, name), wanted, rtol=1e-9, atol=1e-9)
    assert prompts or grad.prompts is None


@pytest.mark.parametrize("arm", ["plain", "joint", "joint_heads"])
def test_the_querys_row_is_all_that_one_layer_needs(arm: str):
    """The literal model that speed is measured against is the literal model."""
    mix, n = mixture(SHAPES[4])
    _, params = mixtures.random_parameters(mix, "attention", arm, SEEDS)
    sequences, one = drawn(mix, n, 20)[0], tensors(params, 1)
    expected = literal.predict(one, sequences)
    torch.testing.assert_close(literal.predict_from_query(one, sequences), expected)
