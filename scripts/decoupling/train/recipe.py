"""What is trained, and how: recipes and runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ..models import Arm

BATCH_STEP = 64  # contexts
CONTINUATION_STAGES = 200  # steps in which the means grow


@dataclass(frozen=True)
class Recipe:
    """How one arm is trained. The defaults are the paper's, with the exact gradient."""

    gradient: str | int = "exact"  # or the contexts in a batch
    iterations: int = 20_000
    lr: float = 1e-3
    schedule: str = "constant"  # or "cosine", from lr to 0
    means_warmup: float = 0.0  # share of training over which all μ_k grow from 0 to themselves
    prompt_lr_factor: float = 1.0  # prompts' rate over lr: they must go furthest
    prompts_with_means: bool = False  # prompts' rate grows with the means: before, they only wander
    clip_ratio: float | None = None  # longest gradient of a seed over its running risk
    forgetting: float | None = None  # f: Adam's mean of squares keeps 1 − t^−f of itself at step t
    init_std: float = 0.1
    test_contexts: int = 65_536  # of each of the two held-out sets, where the risk is estimated
    batch_growth: float = 1.0  # batches of the last iteration over `gradient`, the first's
    race: tuple[float, ...] = ()  # shares of training after which the worse half of the seeds stops
    race_group: int = 0  # seeds that race together: the first so many, the next so many, …
    wide_contexts: bool = False  # batches have more of the contexts that deep models depend on

    def lr_at(self, iteration: int) -> float:
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * iteration / self.iterations)) / 2
        return self.lr

    def batch_at(self, iteration: int) -> int:
        """Grows evenly in proportion, to a multiple of BATCH_STEP."""
        if self.batch_growth == 1:
            return self.gradient
        size = self.gradient * self.batch_growth ** (iteration / self.iterations)
        return max(1, round(size / BATCH_STEP)) * BATCH_STEP

    def data_at(self, iteration: int) -> tuple[int | None, float, bool]:
        """What an engine is asked for: the contexts of a batch, None for the exact gradient; the
        scale of the means; whether contexts are wide."""
        size = None if self.gradient == "exact" else self.batch_at(iteration)
        return size, self.mean_scale_at(iteration), self.wide_contexts

    @property
    def contexts(self) -> float:
        """In all batches of a run, about."""
        mean = (self.batch_growth - 1) / math.log(self.batch_growth) if self.batch_growth > 1 else 1
        return self.iterations * self.gradient * mean

    @cached_property
    def race_at(self) -> frozenset[int]:
        """Iterations after which the worse half stops."""
        return frozenset(round(share * self.iterations) for share in self.race)

    @property
    def has_running_risk(self) -> bool:
        """Whether anything asks for it."""
        return bool(self.race) or self.clip_ratio is not None

    def mean_scale_at(self, iteration: int) -> float:
        """Grows linearly, in steps so that exact moments need not be made anew every time."""
        progress = iteration / (self.means_warmup * self.iterations) if self.means_warmup else 1.0
        return min(1.0, math.floor(progress * CONTINUATION_STAGES) / CONTINUATION_STAGES)


@dataclass(frozen=True)
class Run:
    """One thing to train: an arm of a model, by a recipe."""

    module: str  # of the folder `models`
    model: str
    layers: int
    arm: str
    parts: Arm  # what the arm trains
    recipe: Recipe
    seeds: int | None = None  # only seeds 0 … seeds−1 of a block are trained; None: all
    reported: bool = True  # or trained only because another run starts from it
    sizes: tuple[tuple[str, int], ...] = ()  # the model's own, by name

    @property
    def key(self) -> str:
        return f"{self.model}/{self.layers}/{self.arm}"
