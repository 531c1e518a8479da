"""Batches of sequences, in torch with autograd, on any device: for any model written in torch.

A model gives `predict(params, tokens, queries, tasks)`, tensors in and out: ŷ of every seed and
context, [seeds, B], from tokens [B, n, D], the queries' x [B, d] and each context's task [B].
Parameters are batched over seeds, as `models.base.Model` says; prompts may be one for all tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from ..errors import InputError
from ..problem.sequences import SequenceBatch, at_a_time
from .base import BatchEngine

BLOCK = 1024  # contexts that go through at a time
Tensors = Mapping[str, torch.Tensor]


class AutogradEngine(BatchEngine):
    """Engines add `_errors`, which torch differentiates."""

    def __init__(
        self,
        draw: Callable,
        noise_var: float,
        device: str,
        threads: int,
        importance: Callable | None = None,
    ) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            text = "The protocol asks for device cuda, but torch finds none here; use device: cpu"
            raise InputError([text])
        torch.set_num_threads(threads)
        super().__init__(draw, noise_var, importance)
        self._device = device

    def from_numpy(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, torch.float32)

    def to_numpy(self, array: torch.Tensor) -> np.ndarray:
        return array.detach().cpu().numpy()

    def risk_and_gradient(self, model: Any, data: Any, params: Tensors, out: Tensors) -> np.ndarray:
        leaves = {name: params[name].detach().requires_grad_() for name in out}
        for grad in out.values():
            grad.zero_()
        total = 0.0
        for errors in self._errors(model, data, {**params, **leaves}):
            loss = errors.sum(1) / data.size
            # parameters that do not affect an arm's prediction have no gradient: zero
            grads = torch.autograd.grad(loss.sum(), list(leaves.values()), allow_unused=True)
            for grad, block in zip(out.values(), grads, strict=True):
                grad += 0 if block is None else block
            total += loss.detach().double()
        return self.to_numpy(total + self._noise_var)

    @torch.no_grad()
    def errors(self, model: Any, params: Tensors, batch: Any) -> np.ndarray:
        return self.to_numpy(torch.cat(list(self._errors(model, batch, params)), dim=1))

    def _errors(self, model: Any, batch: Any, params: Tensors) -> Iterator[torch.Tensor]:
        """Weighted squared errors, a block of contexts at a time: [seeds, block]."""
        raise NotImplementedError


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
            of_block, asked, wanted = map(self.from_numpy, arrays)
            found = model.predict(params, of_block, asked, tasks[block])
            if found.shape[1:] != wanted.shape:
                raise ValueError(
                    f"{model.name}: predict gives {tuple(found.shape)}, not [seeds, B]"
                )
            yield (found - wanted) ** 2


ENGINE = SequenceEngine
