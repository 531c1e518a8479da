"""Batches of Gram matrices, in torch with autograd, on any device: on GPUs, and to test kernels.

The layers of `models.deep_attention` are written out on vectors. Contexts are the last, contiguous
axis. They come in blocks that stay in cache, so that a seed's weights times a block are one matrix
product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..models.deep_attention import Layers
from ..problem.gram import GramBatch
from .base import grams_at_a_time
from .sequences import AutogradEngine, Tensors

BLOCK = 512  # contexts at once: about 1 MB per vector of 50 seeds


class _GramProduct(torch.autograd.Function):
    """S v for symmetric S per context, shared by all seeds: [D, D, B] and [seeds, D, B]."""

    @staticmethod
    def forward(ctx, grams: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        ctx.grams = grams
        product = grams[:, 0] * vectors[:, :1]
        for j in range(1, grams.shape[0]):
            product.addcmul_(grams[:, j], vectors[:, j : j + 1])
        return product

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, _GramProduct.apply(ctx.grams, grad)


@dataclass(frozen=True, eq=False)
class Contexts:
    """A block of contexts."""

    grams: torch.Tensor  # S: [D, D, B]
    tasks: torch.Tensor  # the task of each context: [K, B] of 0 and 1

    def gram(self, vectors: torch.Tensor) -> torch.Tensor:
        """S v: [seeds, D, B]."""
        return _GramProduct.apply(self.grams, vectors)


def predictor(layers: Layers, contexts: Contexts) -> torch.Tensor:
    """v of every seed and context, [seeds, D, B]."""
    seeds, depth, size, _ = layers.scores.shape
    if layers.heads is None:
        vectors = layers.scores.new_zeros(seeds, size, contexts.tasks.shape[1])
        vectors[:, -1] = 1
    else:
        vectors = layers.heads.mT @ contexts.tasks
    for layer in reversed(range(depth)):
        vectors = _tokens(layers, contexts, layer, vectors)
    return vectors


def _tokens(layers: Layers, contexts: Contexts, layer: int, vectors: torch.Tensor) -> torch.Tensor:
    """T_l v."""
    inner = _gram(layers, contexts, layer, layers.values[:, layer] @ vectors)
    return vectors.baddbmm(layers.scores[:, layer], inner)


def _tokens_transposed(
    layers: Layers, contexts: Contexts, layer: int, vectors: torch.Tensor
) -> torch.Tensor:
    """T_lᵀ v."""
    inner = _gram(layers, contexts, layer, layers.scores[:, layer].mT @ vectors)
    return vectors.baddbmm(layers.values[:, layer].mT, inner)


def _gram(layers: Layers, contexts: Contexts, layer: int, vectors: torch.Tensor) -> torch.Tensor:
    """The Gram matrix that enters `layer` (counted from 0), times v."""
    if layer == 0:
        product, prompts = contexts.gram(vectors), layers.prompts
        if prompts is None:
            return product
        own = (prompts @ vectors) * contexts.tasks  # p_kᵀv of the context's own task
        return product.baddbmm(prompts.mT.expand(-1, -1, own.shape[1]), own)
    inner = _gram(layers, contexts, layer - 1, _tokens(layers, contexts, layer - 1, vectors))
    return _tokens_transposed(layers, contexts, layer - 1, inner)


class TorchEngine(AutogradEngine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        draw, importance = contexts.batch, contexts.importance_batch
        super().__init__(draw, contexts.spec.noise_var, device, threads, importance)
        self.chunk = grams_at_a_time(contexts.spec.dim)
        self._sigma_x = self.from_numpy(contexts.spec.sigma_x)

    def _errors(self, model: Any, batch: GramBatch, params: Tensors) -> Iterator[torch.Tensor]:
        owners = np.repeat(np.arange(len(batch.betas)), [beta.shape[1] for beta in batch.betas])
        whole = (
            np.concatenate(batch.grams, axis=-1),
            owners == np.arange(len(batch.betas))[:, None],
            np.concatenate(batch.betas, axis=-1),
            np.ones(batch.size) if batch.weights is None else np.concatenate(batch.weights),
        )
        for start in range(0, batch.size, BLOCK):
            block = (np.ascontiguousarray(part[..., start : start + BLOCK]) for part in whole)
            grams, tasks, betas, weights = map(self.from_numpy, block)
            gap = predictor(model.forward(params), Contexts(grams, tasks))[:, :-1] - betas
            yield (gap * (self._sigma_x @ gap)).sum(1) * weights
