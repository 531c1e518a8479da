"""The model as the paper writes it: sequences, tokens, attention, autograd. Slow and obvious.

Parameters are one seed's, by the library's names: `query`, `key`, `value` [L, D, D] or `weight`
[d, d]; `prompts` and `heads` [K, D] where the arm has them; a shared prompt is [1, D].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from decoupling.problem.mixture import TaskMixture
from torch.nn import functional

Parameters = Mapping[str, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Sequences:
    """A batch of in-context problems; the last of the n + 1 pairs is the query."""

    task: torch.Tensor  # k, [B]
    beta: torch.Tensor  # [B, d]
    x: torch.Tensor  # [B, n+1, d]
    y: torch.Tensor  # [B, n+1]

    def with_query(self, query: torch.Tensor) -> Sequences:
        """The same contexts with `query` [d] as every sequence's query."""
        x = self.x.clone()
        x[:, -1] = query
        return Sequences(self.task, self.beta, x, self.y)


def draw_sequences(
    mix: TaskMixture,
    n: int,
    count: int,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float64,
) -> Sequences:
    """Definitions 1 and 2: task, β, then n + 1 pairs (x, y)."""

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype)

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.tensor(array, dtype=dtype)

    weights = torch.tensor(mix.weights)
    task = torch.multinomial(weights, count, replacement=True, generator=generator)
    chol_cov = tensor(np.linalg.cholesky(mix.covs))[task]
    beta = tensor(mix.means)[task] + (chol_cov @ normal(count, mix.dim, 1)).squeeze(-1)
    x = normal(count, n + 1, mix.dim) @ tensor(np.linalg.cholesky(mix.sigma_x)).T
    noise = mix.noise_var**0.5 * normal(count, n + 1)
    return Sequences(task, beta, x, (x @ beta[..., None]).squeeze(-1) + noise)


def tokens(sequences: Sequences, prompts: torch.Tensor | None) -> torch.Tensor:
    """Z: the task's prompt (if any), context [x; y], query [x; 0]; [B, T, D]."""
    labels = sequences.y.clone()
    labels[:, -1] = 0
    rows = torch.cat([sequences.x, labels[..., None]], dim=-1)
    if prompts is None:
        return rows
    return torch.cat([_own(prompts, sequences)[:, None], rows], dim=1)


def _own(prompts: torch.Tensor, sequences: Sequences) -> torch.Tensor:
    """Every sequence's prompt, [B, D]: its task's, or the one that all tasks share."""
    return prompts[sequences.task if len(prompts) > 1 else torch.zeros_like(sequences.task)]


def attention(
    z: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """Attn(Z) = (Z Wq Wkᵀ Zᵀ) M Z Wv; M drops the query from keys and values."""
    mask = torch.ones(z.shape[1], dtype=z.dtype)
    mask[-1] = 0
    scores = (z @ query) @ (z @ key).mT
    return (scores * mask) @ (z @ value)


def predict(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """ŷ of every sequence, [B]."""
    if "weight" in params:
        return _predict_reduced(params, sequences)
    z = outputs(params, sequences)
    return (z[:, -1] * _heads(params, sequences, z)).sum(-1)


def outputs(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """What the last layer makes of every token, [B, T, D]."""
    z = tokens(sequences, params.get("prompts"))
    layers = list(zip(params["query"], params["key"], params["value"], strict=True))
    if len(layers) == 1:
        z = attention(z, *layers[0])
    else:
        for weights in layers:
            z = z + attention(z, *weights)
    return z


def _heads(params: Parameters, sequences: Sequences, z: torch.Tensor) -> torch.Tensor:
    """h_k of every sequence's task, or e_D."""
    if "heads" in params:
        return params["heads"][sequences.task]
    shared = z.new_zeros(z.shape[-1])
    shared[-1] = 1
    return shared


def _predict_reduced(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """Assumption 1: ŷ = xᵀW(Xᵀy + q_k p̄_k)."""
    context, query = sequences.x[:, :-1], sequences.x[:, -1]
    summary = (context * sequences.y[:, :-1, None]).sum(1)
    if "prompts" in params:
        prompt = _own(params["prompts"], sequences)
        summary = summary + prompt[:, -1:] * prompt[:, :-1]
    return (query * (summary @ params["weight"].T)).sum(-1)


def squared_errors(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """(ŷ − y)² of every sequence, [B]."""
    return (predict(params, sequences) - sequences.y[:, -1]) ** 2


def predictors(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """The u in ŷ = xᵀu, read off with unit vectors as queries; [B, d]."""
    axes = torch.eye(sequences.x.shape[-1], dtype=sequences.x.dtype)
    return torch.stack([predict(params, sequences.with_query(axis)) for axis in axes], dim=1)


def context_grams(sequences: Sequences) -> torch.Tensor:
    """Σ z zᵀ over the context tokens, without prompt and query; [B, D, D]."""
    context = tokens(sequences, None)[:, :-1]
    return context.mT @ context


def predict_from_query(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """The same ŷ of one layer, with no row of attention but the query's: what one would write to
    train it, and what speed is measured against."""
    z = tokens(sequences, params.get("prompts"))
    query, key, value = (params[name][0] for name in ("query", "key", "value"))
    context = z[:, :-1]
    scores = (z[:, -1:] @ query) @ (context @ key).mT
    row = (scores @ (context @ value))[:, 0]
    return (row * _heads(params, sequences, z)).sum(-1)


def predict_softmax(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """ŷ of softmax attention, weights [H, D, D], by torch's own attention on the whole sequence;
    its mask says that nobody attends to the query; [B]."""
    z = tokens(sequences, params.get("prompts"))
    mask = torch.ones(z.shape[1], z.shape[1], dtype=torch.bool)
    mask[:, -1] = False
    query, key, value = (z[:, None] @ params[name] for name in ("query", "key", "value"))
    heads = functional.scaled_dot_product_attention(query, key, value, mask, scale=1.0)
    return (heads.sum(1)[:, -1] * _heads(params, sequences, z)).sum(-1)


def softmax_from_query(params: Parameters, sequences: Sequences) -> torch.Tensor:
    """The same with no row of attention but the query's."""
    z = tokens(sequences, params.get("prompts"))
    context, asked = z[:, None, :-1], z[:, None, -1:]
    scores = (asked @ params["query"]) @ (context @ params["key"]).mT
    row = (scores.softmax(-1) @ (context @ params["value"]))[:, :, 0].sum(1)
    return (row * _heads(params, sequences, z)).sum(-1)


def training_step(
    params: Parameters, optimizer: torch.optim.Optimizer, sequences: Sequences, predicted_by=None
) -> float:
    """One step on the batch's mean squared error; returns the error before it."""
    optimizer.zero_grad()
    own = predict_from_query if len(params["query"]) == 1 else predict
    predicted = (predicted_by or own)(params, sequences)
    loss = ((predicted - sequences.y[:, -1]) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()
