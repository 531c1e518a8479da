"""Batches of Gram matrices, in torch with autograd, on any device.

A model gives `predictor(params, contexts)`, the v in ŷ = [x; 0]ᵀv. Contexts are the last,
contiguous axis and come in blocks that stay in cache, so that the weights of one seed meet a block
as one matrix product. The test risk is estimated on held-out contexts, and the best seed chosen
on another set of them, because a minimum over noisy estimates is biased low.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..problem.gram import GramBatch
from ..problem.streams import Stream
from ..train.recipe import Recipe
from . import DeviceError, TestRisk

Tensors = Mapping[str, torch.Tensor]

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
    """A block of contexts as a model sees it."""

    grams: torch.Tensor  # S: [D, D, B]
    tasks: torch.Tensor  # whose context each is: [K, B] of 0 and 1

    def gram(self, vectors: torch.Tensor) -> torch.Tensor:
        """S v: [seeds, D, B]."""
        return _GramProduct.apply(self.grams, vectors)


class GramEngine:
    def __init__(self, contexts: Any, device: str = "cpu", threads: int = 1) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise DeviceError(
                "The protocol asks for device cuda, but torch finds none here; use device: cpu"
            )
        torch.set_num_threads(threads)
        self._device = device
        self._batch = lru_cache(maxsize=2)(contexts.batch)
        self._sigma_x = self.array(contexts.spec.sigma_x)
        self._noise_var = contexts.spec.noise_var

    def array(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, torch.float32)

    def numbers(self, array: torch.Tensor) -> np.ndarray:
        return array.detach().cpu().numpy()

    def data(self, stream: int, iteration: int, recipe: Recipe) -> GramBatch:
        return self._batch(stream, iteration, recipe.gradient, recipe.mean_scale_at(iteration))

    def risk_and_gradient(
        self, model: Any, data: GramBatch, params: Tensors, out: Tensors
    ) -> np.ndarray:
        leaves = {name: params[name].detach().requires_grad_() for name in out}
        for grad in out.values():
            grad.zero_()
        total = 0.0
        for errors in self._context_errors(model, data, {**params, **leaves}):
            loss = errors.sum(1) / data.size
            grads = torch.autograd.grad(loss.sum(), list(leaves.values()))
            for grad, block in zip(out.values(), grads, strict=True):
                grad += block
            total += loss.detach().double()
        return self.numbers(total + self._noise_var)

    def test(self, model: Any, params: Tensors, recipe: Recipe) -> TestRisk:
        found = {
            stream: self._heldout(model, params, self._batch(stream, 0, recipe.test_contexts, 1.0))
            for stream in (Stream.REPORT, Stream.SELECTION)
        }
        return TestRisk(*found[Stream.REPORT], found[Stream.SELECTION][0])

    @torch.no_grad()
    def _heldout(
        self, model: Any, params: Tensors, batch: GramBatch
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every seed's risk on the batch and its standard error."""
        blocks = self._context_errors(model, batch, params)
        errors = torch.cat([block.double() for block in blocks], dim=1)
        mean, error = errors.mean(1) + self._noise_var, errors.std(1) / batch.size**0.5
        return self.numbers(mean), self.numbers(error)

    def _context_errors(
        self, model: Any, batch: GramBatch, params: Tensors
    ) -> Iterator[torch.Tensor]:
        """(u − β)ᵀΣx(u − β) of every seed and context, [seeds, block], a block at a time."""
        owners = np.repeat(np.arange(len(batch.betas)), [beta.shape[1] for beta in batch.betas])
        whole = (
            np.concatenate(batch.grams, axis=-1),
            owners == np.arange(len(batch.betas))[:, None],
            np.concatenate(batch.betas, axis=-1),
        )
        for start in range(0, batch.size, BLOCK):
            block = (np.ascontiguousarray(part[..., start : start + BLOCK]) for part in whole)
            grams, tasks, betas = map(self.array, block)
            gap = model.predictor(params, Contexts(grams, tasks))[:, :-1] - betas
            yield (gap * (self._sigma_x @ gap)).sum(1)


ENGINE = GramEngine
