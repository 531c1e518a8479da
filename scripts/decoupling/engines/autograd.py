"""What engines in torch share, on any device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from . import DeviceError
from .batches import BatchEngine

Tensors = Mapping[str, torch.Tensor]


class AutogradEngine(BatchEngine):
    """Engines add `_errors`, which torch differentiates."""

    def __init__(
        self,
        draw: Callable,
        noise_var: float,
        device: str,
        threads: int,
        wide: Callable | None = None,
    ) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise DeviceError(
                "The protocol asks for device cuda, but torch finds none here; use device: cpu"
            )
        torch.set_num_threads(threads)
        super().__init__(draw, noise_var, wide)
        self._device = device

    def array(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, torch.float32)

    def numbers(self, array: torch.Tensor) -> np.ndarray:
        return array.detach().cpu().numpy()

    def risk_and_gradient(self, model: Any, data: Any, params: Tensors, out: Tensors) -> np.ndarray:
        leaves = {name: params[name].detach().requires_grad_() for name in out}
        for grad in out.values():
            grad.zero_()
        total = 0.0
        for errors in self._errors(model, data, {**params, **leaves}):
            loss = errors.sum(1) / data.size
            # what an arm's prediction does not depend on has no gradient: zero
            grads = torch.autograd.grad(loss.sum(), list(leaves.values()), allow_unused=True)
            for grad, block in zip(out.values(), grads, strict=True):
                grad += 0 if block is None else block
            total += loss.detach().double()
        return self.numbers(total + self._noise_var)

    @torch.no_grad()
    def errors(self, model: Any, params: Tensors, batch: Any) -> np.ndarray:
        return self.numbers(torch.cat(list(self._errors(model, batch, params)), dim=1))

    def _errors(self, model: Any, batch: Any, params: Tensors) -> Iterator[torch.Tensor]:
        """A block of contexts at a time, times their weights: [seeds, block]."""
        raise NotImplementedError
