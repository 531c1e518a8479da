"""Models of layers on the CPU, by the compiled pass of `kernels.layers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import compiled, layers
from ..kernels.layers import BLOCK, program
from ..models import Arrays
from ..models.layered import Chain
from ..problem.gram import GramBatch
from .blocks import BlockEngine, by_seeds, cut, owners, shares


@dataclass(frozen=True, eq=False)
class Blocks:
    """A batch cut into blocks of one task each, the last of which is filled up."""

    grams: np.ndarray  # [blocks, P·BLOCK]
    betas: np.ndarray  # [blocks, d·BLOCK]
    filled: np.ndarray  # whether there is a context: [blocks, BLOCK]
    weights: np.ndarray  # of the contexts in the risk, 0 where there is none: [blocks, BLOCK]
    owners: np.ndarray  # whose each block is, [blocks]
    tasks: int  # K


def blocks(batch: GramBatch) -> Blocks:
    counts = [beta.shape[1] for beta in batch.betas]
    grams, betas = (cut(parts, BLOCK) for parts in (batch.packed, batch.betas))
    return Blocks(
        grams.reshape(len(grams), -1),
        betas.reshape(len(betas), -1),
        *shares(counts, BLOCK, batch.weights),
        owners(counts, BLOCK),
        len(counts),
    )


class CompiledEngine(BlockEngine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        draw, wide = contexts.batch, contexts.wide_batch
        super().__init__(draw, contexts.spec.noise_var, blocks, threads, wide)
        self._sigma_x = contexts.spec.sigma_x.astype(np.float32).ravel()

    def _pass(
        self, model: Any, params: Arrays, blocks: Blocks, *, with_gradient: bool
    ) -> tuple[np.ndarray, Chain]:
        return self._run(model.chain(params), blocks, with_gradient=with_gradient)

    def _run(self, chain: Chain, cut: Blocks, *, with_gradient: bool) -> tuple[np.ndarray, Chain]:
        """Errors, [seeds, blocks, BLOCK], and the gradient with respect to the chain."""
        seeds, depth, size, _ = chain.scores.shape
        code = program(depth)
        both = np.empty((seeds, depth, 2, 2, size, size), np.float32)  # each with its transpose
        for i, matrices in enumerate((chain.scores, chain.values)):
            both[:, :, i, 0], both[:, :, i, 1] = matrices, matrices.mT
        both = both.reshape(seeds, 2 * depth, 2, -1)
        prompted = chain.prompts is not None
        prompts = _by_task(chain.prompts if prompted else np.zeros((seeds, 1, size)), cut.tasks)
        starts = _starts(chain, cut.tasks)
        errors = np.empty((seeds, len(cut.owners), BLOCK), np.float32)
        sums = [np.zeros(x.shape, np.float32) for x in (both[:, :, 0], prompts, starts)]
        kernel = compiled(layers.run, size)

        def run(part: slice) -> None:
            kernel(
                (0,) * size, (0,), code.groups, code.operations, code.forward, code.starts,
                code.ends, code.places, with_gradient, prompted,
                cut.grams, cut.betas, cut.weights, cut.owners,
                both[part], prompts[part], starts[part], self._sigma_x,
                errors[part], *(x[part] for x in sums),
            )  # fmt: skip

        by_seeds(run, seeds, self._threads)
        return errors, _gradient(chain, starts, *sums)


def _by_task(vectors: np.ndarray, tasks: int) -> np.ndarray:
    out = np.empty((len(vectors), tasks, vectors.shape[-1]), np.float32)
    out[:] = vectors
    return out


def _starts(chain: Chain, tasks: int) -> np.ndarray:
    """h_k, V_L h_k, V_{L−1}V_L h_k, …: [seeds, K, L + 1, D]."""
    seeds, depth, size, _ = chain.scores.shape
    found = np.empty((seeds, tasks, depth + 1, size), np.float32)
    found[:, :, 0] = np.eye(size)[-1] if chain.heads is None else chain.heads
    for i, layer in enumerate(reversed(range(depth))):
        found[:, :, i + 1] = found[:, :, i] @ chain.values[:, layer].mT
    return found


def _gradient(
    chain: Chain, starts: np.ndarray, d_matrices: np.ndarray, d_prompts: np.ndarray,
    d_starts: np.ndarray,
) -> Chain:  # fmt: skip
    """What came back by matrix, prompt and start, as the gradient of the chain; starts are products
    of heads and values themselves."""
    seeds, depth, size, _ = chain.scores.shape
    by_layer = d_matrices.reshape(seeds, depth, 2, size, size)
    d_values = by_layer[:, :, 1].copy()
    grad = d_starts[:, :, depth]
    for layer in range(depth):
        d_values[:, layer] += grad.mT @ starts[:, :, depth - 1 - layer]
        grad = d_starts[:, :, depth - 1 - layer] + grad @ chain.values[:, layer]
    return Chain(by_layer[:, :, 0], d_values, d_prompts, grad)
