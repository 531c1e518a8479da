"""Batches of sequences, in torch with autograd, on any device: for any model written in torch.

A model gives `predict(params, tokens, queries, tasks)`, tensors in and out: ŷ of every seed and
context, [seeds, B], from tokens [B, n, D], the queries' x [B, d] and whose context each is [B].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from ..problem.sequences import SequenceBatch
from . import DeviceError
from .batches import BatchEngine

Tensors = Mapping[str, torch.Tensor]

CHUNK = 8192  # held-out contexts drawn at a time
BLOCK = 1024  # contexts that go through at a time


class SequenceEngine(BatchEngine):
    chunk = CHUNK

    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise DeviceError(
                "The protocol asks for device cuda, but torch finds none here; use device: cpu"
            )
        torch.set_num_threads(threads)
        super().__init__(contexts.sequences, contexts.spec.noise_var)
        self._device = device

    def array(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, torch.float32)

    def numbers(self, array: torch.Tensor) -> np.ndarray:
        return array.detach().cpu().numpy()

    def risk_and_gradient(
        self, model: Any, data: SequenceBatch, params: Tensors, out: Tensors
    ) -> np.ndarray:
        leaves = {name: params[name].detach().requires_grad_() for name in out}
        for grad in out.values():
            grad.zero_()
        total = 0.0
        for errors in self._errors(model, data, {**params, **leaves}):
            loss = errors.sum(1) / data.size
            grads = torch.autograd.grad(loss.sum(), list(leaves.values()))
            for grad, block in zip(out.values(), grads, strict=True):
                grad += block
            total += loss.detach().double()
        return self.numbers(total + self._noise_var)

    @torch.no_grad()
    def errors(self, model: Any, params: Tensors, batch: SequenceBatch) -> np.ndarray:
        return self.numbers(torch.cat(list(self._errors(model, batch, params)), dim=1))

    def _errors(self, model: Any, batch: SequenceBatch, params: Tensors) -> Iterator[torch.Tensor]:
        """A block of contexts at a time: [seeds, block]."""
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
            yield (model.predict(params, of_block, asked, tasks[block]) - wanted) ** 2


ENGINE = SequenceEngine
