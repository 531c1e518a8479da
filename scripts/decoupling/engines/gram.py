"""Batches of Gram matrices: for layers that see a context only through its Gram matrix.

A model forwards `models.deep_attention.Layers`. On a CPU the arithmetic is one compiled pass, in
single precision; torch does it on a GPU. The query integrates out: the error of a context is
(v − β)ᵀΣx(v − β).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import compiled, layers
from ..kernels.layers import BLOCK, program
from ..models.deep_attention import Layers
from ..problem.gram import GramBatch
from .base import BatchEngine, grams_at_a_time
from .blocks import BlockEngine, Blocks, by_seeds, by_task, cut


def blocks(batch: GramBatch) -> Blocks:
    """Gram matrices, [blocks, P·BLOCK], and β, [blocks, d·BLOCK]."""
    counts = [beta.shape[1] for beta in batch.betas]
    arrays = [cut(parts, BLOCK) for parts in (batch.packed, batch.betas)]
    flat = [array.reshape(len(array), -1) for array in arrays]
    return Blocks.of(flat, counts, BLOCK, batch.weights)


class CompiledEngine(BlockEngine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        draw, importance = contexts.batch, contexts.importance_batch
        super().__init__(draw, contexts.spec.noise_var, blocks, threads, importance)
        self.chunk = grams_at_a_time(contexts.spec.dim)
        self._sigma_x = contexts.spec.sigma_x.astype(np.float32).ravel()

    def _pass(
        self, forwarded: Layers, blocks: Blocks, *, with_gradient: bool
    ) -> tuple[np.ndarray, Layers]:
        seeds, depth, size, _ = forwarded.scores.shape
        code = program(depth)
        both = np.empty((seeds, depth, 2, 2, size, size), np.float32)  # each with its transpose
        for i, matrices in enumerate((forwarded.scores, forwarded.values)):
            both[:, :, i, 0], both[:, :, i, 1] = matrices, matrices.mT
        both = both.reshape(seeds, 2 * depth, 2, -1)
        prompted = forwarded.prompts is not None
        prompts = by_task(
            forwarded.prompts if prompted else np.zeros((seeds, 1, size)), blocks.tasks
        )
        starts = _starts(forwarded, blocks.tasks)
        errors = np.empty((seeds, len(blocks.owners), BLOCK), np.float32)
        sums = [np.zeros(x.shape, np.float32) for x in (both[:, :, 0], prompts, starts)]
        kernel = compiled(layers.run, size)

        def run(part: slice) -> None:
            kernel(
                (0,) * size, (0,), code.groups, code.operations, code.forward, code.starts,
                code.ends, code.places, with_gradient, prompted,
                *blocks.arrays, blocks.weights, blocks.owners,
                both[part], prompts[part], starts[part], self._sigma_x,
                errors[part], *(x[part] for x in sums),
            )  # fmt: skip

        by_seeds(run, seeds, self._threads)
        return errors, _gradient(forwarded, starts, *sums)


def _starts(forwarded: Layers, tasks: int) -> np.ndarray:
    """h_k, V_L h_k, V_{L−1}V_L h_k, …: [seeds, K, L + 1, D]."""
    seeds, depth, size, _ = forwarded.scores.shape
    found = np.empty((seeds, tasks, depth + 1, size), np.float32)
    found[:, :, 0] = np.eye(size)[-1] if forwarded.heads is None else forwarded.heads
    for i, layer in enumerate(reversed(range(depth))):
        found[:, :, i + 1] = found[:, :, i] @ forwarded.values[:, layer].mT
    return found


def _gradient(
    forwarded: Layers, starts: np.ndarray, d_matrices: np.ndarray, d_prompts: np.ndarray,
    d_starts: np.ndarray,
) -> Layers:  # fmt: skip
    """The gradient of the layers, from those of matrices, prompts and starts; starts are products
    of heads and values."""
    seeds, depth, size, _ = forwarded.scores.shape
    by_layer = d_matrices.reshape(seeds, depth, 2, size, size)
    d_values = by_layer[:, :, 1].copy()
    grad = d_starts[:, :, depth]
    for layer in range(depth):
        d_values[:, layer] += grad.mT @ starts[:, :, depth - 1 - layer]
        grad = d_starts[:, :, depth - 1 - layer] + grad @ forwarded.values[:, layer]
    return Layers(by_layer[:, :, 0], d_values, d_prompts, grad)


def engine(contexts: Any, device: str = "cpu", threads: int = 1) -> BatchEngine:
    if device == "cpu":
        return CompiledEngine(contexts, device, threads)
    from .gram_torch import TorchEngine

    return TorchEngine(contexts, device, threads)


ENGINE = engine
