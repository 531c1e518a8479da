"""Batches of sequences, in torch with autograd, on any device: for any model written in torch.

A model gives `predict(params, tokens, queries, tasks)`, tensors in and out: ŷ of every seed and
context, [seeds, B], from tokens [B, n, D], the queries' x [B, d] and whose context each is [B].
Parameters are batched over seeds, as `models.Model` says; prompts may be one for all tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..problem.sequences import SequenceBatch, at_a_time
from .autograd import AutogradEngine, Tensors

BLOCK = 1024  # contexts that go through at a time


class SequenceEngine(AutogradEngine):
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        super().__init__(contexts.sequences, contexts.spec.noise_var, device, threads)
        self.chunk = at_a_time(contexts.n, contexts.spec.dim)

    def _errors(self, model: Any, batch: SequenceBatch, params: Tensors) -> Iterator[torch.Tensor]:
        tokens, queries, targets = (
            np.moveaxis(np.concatenate(parts, axis=-1), -1, 0)
            for parts in (batch.tokens, batch.queries, batch.targets)
        )
        counts = [len(target) for target in batch.targets]
        tasks = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(self._device)
        for start in range(0, batch.size, BLOCK):
            block = slice(start, start + BLOCK)
            arrays = (np.ascontiguousarray(x[block]) for x in (tokens, queries, targets))
            of_block, asked, wanted = map(self.array, arrays)
            found = model.predict(params, of_block, asked, tasks[block])
            if found.shape[1:] != wanted.shape:
                raise ValueError(
                    f"{model.name}: predict gives {tuple(found.shape)}, not [seeds, B]"
                )
            yield (found - wanted) ** 2


ENGINE = SequenceEngine
