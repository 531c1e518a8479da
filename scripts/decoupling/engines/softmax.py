"""Batches of sequences, for models that need only the query's row of softmax attention.

A model forwards `models.softmax.SoftmaxHeads`. On a CPU the arithmetic is one compiled pass, in
single precision; on a GPU torch does it by the model's `predict` (`engines.sequences`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import compiled, softmax
from ..kernels.softmax import BLOCK
from ..models.softmax import SoftmaxHeads
from ..problem.sequences import SequenceBatch, at_a_time
from .base import BatchEngine
from .blocks import BlockEngine, Blocks, by_seeds, by_task, cut


def blocks(batch: SequenceBatch) -> Blocks:
    """Tokens, [blocks, n, D·BLOCK], queries [x; 0], [blocks, D·BLOCK], and targets, [blocks,
    BLOCK]."""
    tokens = cut(batch.tokens, BLOCK)
    queries = cut([np.pad(x, ((0, 1), (0, 0))) for x in batch.queries], BLOCK)
    flat = tokens.reshape(*tokens.shape[:2], -1), queries.reshape(len(queries), -1)
    counts = [len(target) for target in batch.targets]
    return Blocks.of([*flat, cut(batch.targets, BLOCK)], counts, BLOCK)


class CompiledEngine(BlockEngine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        super().__init__(contexts.sequences, contexts.spec.noise_var, blocks, threads)
        self.chunk = at_a_time(contexts.n, contexts.spec.dim)

    def _pass(
        self, forwarded: SoftmaxHeads, blocks: Blocks, *, with_gradient: bool
    ) -> tuple[np.ndarray, SoftmaxHeads]:
        seeds, heads, size, _ = forwarded.scores.shape
        prompted = forwarded.prompts is not None
        scores = np.ascontiguousarray(forwarded.scores.reshape(seeds, heads, -1), np.float32)
        readouts = by_task(forwarded.readouts, blocks.tasks)
        prompts = by_task(
            forwarded.prompts if prompted else np.zeros((seeds, 1, size)), blocks.tasks
        )
        errors = np.empty((seeds, len(blocks.owners), BLOCK), np.float32)
        sums = [np.zeros(x.shape, np.float32) for x in (scores, readouts, prompts)]
        kernel = compiled(softmax.run, size)

        def run(part: slice) -> None:
            kernel(
                (0,) * size, (0,), with_gradient, prompted,
                *blocks.arrays, blocks.weights, blocks.owners,
                scores[part], readouts[part], prompts[part],
                errors[part], *(x[part] for x in sums),
            )  # fmt: skip

        by_seeds(run, seeds, self._threads)
        return errors, SoftmaxHeads(sums[0].reshape(forwarded.scores.shape), *sums[1:])


def engine(contexts: Any, device: str = "cpu", threads: int = 1) -> BatchEngine:
    if device == "cpu":
        return CompiledEngine(contexts, device, threads)
    from .sequences import SequenceEngine

    return SequenceEngine(contexts, device, threads)


ENGINE = engine
