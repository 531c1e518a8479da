"""Recipes, which say how to train, and runs, which say what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from ..models.curve import Curve

BATCH_STEP = 64  # contexts
WARMUP_STEPS = 200  # steps in which the means grow

WHOLE = {"type": "integer", "minimum": 1}
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
YES_OR_NO = {"type": "boolean"}
SHARES = {
    "type": "array",
    "uniqueItems": True,
    "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
}


def _key(default: Any, text: str, schema: Mapping[str, Any], *, arm: bool = False) -> Any:
    """A field that is a key of the config's recipes: its description, its JSON schema, and whether
    it can differ for an arm."""
    return field(default=default, metadata={"key": {"description": text, **schema}, "arm": arm})


def _arm_key(default: Any, text: str, schema: Mapping[str, Any]) -> Any:
    return _key(default, text, schema, arm=True)


@dataclass(frozen=True)
class Recipe:
    """The training of one arm. The defaults are the paper's, with the exact gradient."""

    batch_size: str | int = _key(
        "exact",
        "exact (linear attention of one layer only), or the number of contexts in a batch",
        {"oneOf": [{"const": "exact"}, WHOLE]},
    )
    iterations: int = _arm_key(20_000, "Steps; fine-tuned arms take as many again", WHOLE)
    lr: float = _arm_key(1e-3, "Learning rate (the peak, with a schedule)", POSITIVE)
    schedule: str = _arm_key(
        "constant", "constant, or cosine from lr to 0", {"enum": ["constant", "cosine"]}
    )
    means_warmup: float = _arm_key(
        0.0, "Share of training over which all task means grow from 0 to their values", SHARE
    )
    prompt_lr_factor: float = _arm_key(
        1.0, "The prompts' learning rate as a multiple of lr", POSITIVE
    )
    prompts_with_means: bool = _arm_key(  # while means are 0, prompts only wander
        False, "Whether the prompts' rate grows as the means do in means_warmup", YES_OR_NO
    )
    clip_ratio: float | None = _arm_key(
        None,
        "Longest gradient of a seed as a multiple of its running risk; longer ones are cut to it",
        POSITIVE,
    )
    optimiser: str = _key("adam", "What makes a step of a gradient", {"type": "string"})
    options: tuple[tuple[str, float], ...] = ()  # the optimiser's own, by name
    init_std: float = _arm_key(0.1, "Standard deviation of the initial parameters", POSITIVE)
    test_contexts: int = _key(
        65_536,
        "Contexts in each held-out set (selection, report), where the risk is estimated",
        {"type": "integer", "minimum": 2},
    )
    batch_growth: float = _key(
        1.0,
        "Size of the last batch as a multiple of the first (`batch_size`)",
        {"type": "number", "minimum": 1},
    )
    halve_at: tuple[float, ...] = _arm_key(
        (), "Shares of training after which the worse half of the seeds stops", SHARES
    )
    halving_group: int = _key(
        0,
        "Seeds that are halved together; seeds, and those of a job, are a multiple of it",
        {"type": "integer", "minimum": 2},
    )
    importance_sampling: bool = _key(
        False,
        "Whether batches have more of the rare contexts that deeper models depend on, with weights",
        YES_OR_NO,
    )

    standard_units: bool = _key(
        False,
        "Whether training is in standard units: white features, labels with E[y²] = 1, Gram"
        " matrices over n; and for d > 10 with lr and init_std times √(11/(d + 1))",
        YES_OR_NO,
    )

    def lr_at(self, iteration: int) -> float:
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * iteration / self.iterations)) / 2
        return self.lr

    def batch_at(self, iteration: int) -> int:
        """The size of a batch. It grows geometrically, and is rounded to a multiple of
        BATCH_STEP."""
        if self.batch_growth == 1:
            return self.batch_size
        size = self.batch_size * self.batch_growth ** (iteration / self.iterations)
        return max(1, round(size / BATCH_STEP)) * BATCH_STEP

    def data_at(self, iteration: int) -> tuple[int | None, float, bool]:
        """The request to an engine: the contexts in a batch (None: the exact gradient), the scale
        of the means, and whether contexts are importance-sampled."""
        size = None if self.batch_size == "exact" else self.batch_at(iteration)
        return size, self.mean_scale_at(iteration), self.importance_sampling

    @property
    def contexts(self) -> float:
        """The approximate number of contexts in all batches of a run."""
        mean = (self.batch_growth - 1) / math.log(self.batch_growth) if self.batch_growth > 1 else 1
        return self.iterations * self.batch_size * mean

    @cached_property
    def halved_at(self) -> frozenset[int]:
        """Iterations after which the worse half stops."""
        return frozenset(round(share * self.iterations) for share in self.halve_at)

    @property
    def has_running_risk(self) -> bool:
        """Whether anything uses the running risk."""
        return bool(self.halve_at) or self.clip_ratio is not None

    def mean_scale_at(self, iteration: int) -> float:
        """The scale of the means. It grows linearly, in steps, so that exact moments are not
        recomputed at every iteration."""
        progress = iteration / (self.means_warmup * self.iterations) if self.means_warmup else 1.0
        return min(1.0, math.floor(progress * WARMUP_STEPS) / WARMUP_STEPS)


KEYS = {f.name: f.metadata["key"] for f in fields(Recipe) if f.metadata}
ARM_KEYS = [f.name for f in fields(Recipe) if f.metadata and f.metadata["arm"]]


@dataclass(frozen=True)
class Run:
    """A curve, to be trained at one n by a recipe."""

    curve: Curve
    recipe: Recipe
    seeds: int | None = None  # only seeds 0 … seeds−1 of a block are trained; None: all
    reported: bool = True  # False: trained only because another run starts from it

    @property
    def standardised(self) -> bool:
        """Whether the run is in standard units, which not every model supports."""
        return self.recipe.standard_units and self.curve.model_class.has_standard()

    @property
    def key(self) -> str:
        return f"{self.curve.model}/{self.curve.layers}/{self.curve.arm}"

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Run:
        """The run that JSON describes."""
        recipe = fields["recipe"]
        lists = {
            "halve_at": tuple(recipe["halve_at"]),
            "options": tuple(map(tuple, recipe["options"])),
        }
        made = {"curve": Curve.from_dict(fields["curve"]), "recipe": Recipe(**{**recipe, **lists})}
        return cls(**{**fields, **made})
