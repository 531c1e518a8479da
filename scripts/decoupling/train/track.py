"""The state of one arm in training, over a block of seeds."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from . import deep
from .models import MODELS, initial_values, trained_shapes
from .moments import Moments
from .recipes import ARMS, Task
from .risk import risk_and_gradient
from .sampling import GramBatch
from .spec import TaskMixture

log = logging.getLogger(__name__)

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's defaults


class Track:
    """A task's parameters for a block of seeds, and its Adam.

    All trained parameters of a seed are one row of `theta`, their gradient one row of `grad`;
    `params` are views into it. One layer is small algebra in NumPy on the CPU (at these sizes
    twice as fast as torch); deeper models are torch on any device, with autograd.
    """

    def __init__(
        self,
        task: Task,
        mix: TaskMixture,
        seeds: Sequence[int],
        frozen: Mapping[str, Any],
        device: str,
    ) -> None:
        self.task, self.mix, self.seeds = task, mix, seeds
        self.model = MODELS[task.model](mix.dim, mix.tasks, task.layers)
        self.shapes = trained_shapes(self.model, ARMS[task.arm])
        theta = torch.from_numpy(self._initial_theta())
        self.theta = theta if task.layers == 1 else theta.to(device, torch.float32)
        self.grad = torch.zeros_like(self.theta)
        self.first = torch.zeros_like(self.grad)  # Adam's running mean of the gradient
        self.second = torch.zeros_like(self.grad)  # and of its square
        self.diverged_at = torch.full((len(seeds),), -1)  # iteration at which it was seen
        self.params = {**frozen, **self._views(self.theta)}
        self._grads = self._views(self.grad)
        self._rates = torch.ones_like(self.grad[:1])
        if "prompts" in self.shapes:
            self._views(self._rates)["prompts"][:] = task.recipe.prompt_lr_factor
        self._sigma_x = self.theta.new_tensor(mix.sigma_x)

    def _initial_theta(self) -> np.ndarray:
        arm = ARMS[self.task.arm]
        values = initial_values(self.shapes, self.seeds, self.task.recipe.init_std)
        if arm.heads and not arm.weights:  # fine-tuning starts from the head that plain had
            values["heads"][:] = np.eye(self.mix.dim + 1)[-1]
        return np.concatenate([v.reshape(len(self.seeds), -1) for v in values.values()], 1)

    def _views(self, flat: torch.Tensor) -> dict[str, Any]:
        """Parameters by name: arrays for one layer, leaves of autograd for more."""
        parts = flat.split([math.prod(shape) for shape in self.shapes.values()], dim=1)
        named = zip(self.shapes.items(), parts, strict=True)
        views = {name: part.unflatten(1, shape).detach() for (name, shape), part in named}
        if self.task.layers == 1:
            return {name: view.numpy() for name, view in views.items()}
        return {name: view.requires_grad_(flat is self.theta) for name, view in views.items()}

    def step(self, iteration: int, data: Moments | GramBatch) -> torch.Tensor:
        """One step of Adam; returns every seed's risk before it."""
        if isinstance(data, Moments):
            with np.errstate(over="ignore", invalid="ignore"):  # diverged seeds are counted later
                risks, grad = risk_and_gradient(data, self.model.one_layer(self.params))
                self.model.pull_back(self.params, grad, self._grads)
            value = torch.from_numpy(risks)
        else:
            self.grad.zero_()
            value = deep.batch_risk_and_gradient(
                data, self.params, self._sigma_x, self.mix.noise_var, self._grads
            )
        with torch.inference_mode():
            if self.task.recipe.clip_norm is not None:
                norms = self.grad.norm(dim=1, keepdim=True)
                self.grad.mul_((self.task.recipe.clip_norm / norms).clamp(max=1))
            self._adam(iteration)
        return value

    def _adam(self, iteration: int) -> None:
        steps = iteration + 1
        self.first.lerp_(self.grad, 1 - BETA1)
        self.second.mul_(BETA2).addcmul_(self.grad, self.grad, value=1 - BETA2)
        spread = self.second.sqrt().mul_((1 - BETA2**steps) ** -0.5).add_(EPSILON)
        rate = self.task.recipe.lr_at(iteration) / (1 - BETA1**steps)
        self.theta.addcdiv_(self.first * self._rates, spread, value=-rate)

    def note_divergence(self, iteration: int, value: torch.Tensor) -> None:
        bad = ~torch.isfinite(value.cpu()) & (self.diverged_at < 0)
        if bad.any():
            seeds = [self.seeds[i] for i in bad.nonzero().flatten()]
            log.warning("%s: seeds %s diverged by iteration %d", self.task.key, seeds, iteration)
            self.diverged_at[bad] = iteration

    def state(self) -> dict[str, Any]:
        """All that changes in training; the checkpoint."""
        return {
            "theta": self.theta,
            "first": self.first,
            "second": self.second,
            "diverged_at": self.diverged_at,
        }

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        for name, tensor in self.state().items():
            tensor.copy_(state[name])
