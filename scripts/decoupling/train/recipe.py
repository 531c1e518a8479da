"""What can be trained, and how: arms, recipes and tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONTINUATION_STAGES = 200  # steps in which the means grow


@dataclass(frozen=True)
class Arm:
    """What is trained: attention weights, task prompts, task heads. Without the weights, the
    rest is fine-tuned on the frozen weights of the same seed's `plain`."""

    weights: bool
    prompts: bool
    heads: bool


ARMS = {
    "plain": Arm(weights=True, prompts=False, heads=False),
    "finetune": Arm(weights=False, prompts=True, heads=False),
    "joint": Arm(weights=True, prompts=True, heads=False),
    "joint_heads": Arm(weights=True, prompts=True, heads=True),
    "heads": Arm(weights=True, prompts=False, heads=True),
    "finetune_heads": Arm(weights=False, prompts=True, heads=True),
    "finetune_only_heads": Arm(weights=False, prompts=False, heads=True),
}


@dataclass(frozen=True)
class Recipe:
    """How one arm is trained. The defaults are the paper's, with the exact gradient."""

    gradient: str | int = "exact"  # or the contexts in a batch
    iterations: int = 20_000
    lr: float = 1e-3
    schedule: str = "constant"  # or "cosine", from lr to 0
    means_warmup: float = 0.0  # share of training over which all μ_k grow from 0 to themselves
    prompt_lr_factor: float = 1.0  # prompts' rate over lr: they must go furthest
    clip_norm: float | None = None  # longest gradient of a seed; longer ones are cut to it
    init_std: float = 0.1
    test_contexts: int = 65_536  # of each of the two held-out sets of deeper models

    def lr_at(self, iteration: int) -> float:
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * iteration / self.iterations)) / 2
        return self.lr

    def mean_scale_at(self, iteration: int) -> float:
        """Grows linearly, in steps so that exact moments need not be made anew every time."""
        progress = iteration / (self.means_warmup * self.iterations) if self.means_warmup else 1.0
        return min(1.0, math.floor(progress * CONTINUATION_STAGES) / CONTINUATION_STAGES)


@dataclass(frozen=True)
class Task:
    """One thing to train: an arm of a model."""

    model: str
    layers: int
    arm: str
    recipe: Recipe
    seeds: int | None = None  # only seeds 0 … seeds−1 of a block are trained; None: all

    @property
    def key(self) -> str:
        return f"{self.model}/{self.layers}/{self.arm}"
