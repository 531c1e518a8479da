"""Protocols: numbers of seeds, recipes of models, and the small print of figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .. import models, sources
from ..errors import InputError
from ..models.arms import ARMS
from ..models.curve import Curve
from ..train.recipe import KEYS, Recipe, Run
from .settings import Block


def recipe_names() -> list[str]:
    """The recipes that a protocol can have: those of models and those of sources."""
    found = {model.recipe for model in models.modules().values()}
    own = (getattr(made, "RECIPE", None) for made in sources.blocks().values())
    return sorted(found | set(filter(None, own)))


@dataclass(frozen=True, eq=False)
class RecipeBlock:
    """A recipe, with the arms that differ from it."""

    seeds: int
    seeds_per_job: int | None  # None: the protocol's
    general: Recipe
    arms: Mapping[str, Recipe]  # by arm that differs

    @classmethod
    def read(cls, block: Block, seeds: int) -> RecipeBlock:
        apart = ("seeds", "seeds_per_job", "arms")
        general = {key: value for key, value in block.items() if key not in apart}
        arms = {arm: _recipe(general | own) for arm, own in block.get("arms", {}).items()}
        fewer = min(seeds, block.get("seeds", seeds))
        return cls(fewer, block.get("seeds_per_job"), _recipe(general), arms)

    def of(self, arm: str) -> Recipe:
        return self.arms.get(arm, self.general)


@dataclass(frozen=True, eq=False)
class Protocol:
    """A number of seeds, and a recipe for each kind of model that it trains."""

    name: str
    seeds: int
    seeds_per_job: int
    device: str
    recipes: Mapping[str, RecipeBlock]

    @classmethod
    def read(cls, name: str, block: Block) -> Protocol:
        names = set(recipe_names()) & set(block)
        return cls(
            name,
            block["seeds"],
            block["seeds_per_job"],
            block.get("device", "cpu"),
            {recipe: RecipeBlock.read(block[recipe], block["seeds"]) for recipe in names},
        )

    def recipe_of(self, curve: Curve) -> str:
        """The name of the recipe that trains a curve."""
        own = curve.recipe
        return own if own in self.recipes else curve.model_class.recipe

    def unsupported(self, curve: Curve) -> str | None:
        """The reason why the protocol cannot train a curve, with the fix; or None."""
        name = self.recipe_of(curve)
        if name in self.recipes:
            return None
        return f"{name} is missing; add it, as settings.{curve.setting} needs it"

    def run(self, curve: Curve) -> Run:
        """A curve with its recipe, or InputError if a protocol that is not active has none."""
        if text := self.unsupported(curve):
            raise InputError([f"protocols.{self.name}: {text}"])
        block = self.recipes[self.recipe_of(curve)]
        recipe = block.of(curve.arm)
        return Run(curve, recipe, block.seeds)

    def job_size(self, curves: Iterable[Curve]) -> int:
        """The number of seeds in a job with these curves: a multiple of what each recipe says, so
        that seeds that are halved together are in one job."""
        blocks = {self.recipe_of(curve): self.recipes[self.recipe_of(curve)] for curve in curves}
        sizes = [block.seeds_per_job or self.seeds_per_job for block in blocks.values()]
        return min(math.lcm(*sizes), max(block.seeds for block in blocks.values()))

    def note(self, curves: Iterable[Curve]) -> str:
        """The small print of a figure with these curves."""
        trained: dict[str, list[Curve]] = {}
        for curve in sorted(curves, key=lambda c: (c.layers > 1, self.recipe_of(c))):
            trained.setdefault(self.recipe_of(curve), []).append(curve)
        parts = []
        for name, own in trained.items():
            others = [c for other, found in trained.items() if other != name for c in found]
            whose = f"{_whose(own, others)}: " if others else ""
            parts.append(whose + self._how(name, own))
        return f"Protocol {self.name}: " + "; ".join(parts)

    def _how(self, recipe: str, curves: Iterable[Curve]) -> str:
        block = self.recipes[recipe]
        general, count = block.general, block.seeds
        seeds = f"best of {count} seed{'s' if count > 1 else ''}"
        runs = [self.run(curve) for curve in curves]
        found = {run.recipe.iterations for run in runs}
        most = f" to {max(found):,}" if len(found) > 1 else ""
        halved = _halved(runs, block.of("plain"))
        return f"{seeds}{halved}, {_gradient(general)}, {min(found):,}{most} iterations"


def _whose(curves: Iterable[Curve], others: Iterable[Curve]) -> str:
    """A recipe's curves in a word: models, or the depth if others have the same models."""
    names = sorted({curve.model for curve in curves})
    if not set(names) & {curve.model for curve in others}:
        return ", ".join(names)
    return "deeper" if any(curve.layers > 1 for curve in curves) else "1 layer"


def _halved(runs: Iterable[Run], plain: Recipe) -> str:
    """Halving in words. Fine-tuning starts from plain's surviving seeds, also where plain is not
    drawn."""
    decided = {run.curve.arm: run.recipe if run.curve.trains.weights else plain for run in runs}
    apart = {ARMS[arm].label for arm, recipe in decided.items() if not recipe.halve_at}
    if len(apart) == len(decided):
        return ""
    return f" by halving (not {', '.join(sorted(apart))})" if apart else " by halving"


def _gradient(recipe: Recipe) -> str:
    if recipe.batch_size == "exact":
        return "exact gradient"
    last = recipe.batch_at(recipe.iterations)
    grown = f" to {last:,}" if last != recipe.batch_size else ""
    return f"batches of {recipe.batch_size:,}{grown}"


def _recipe(keys: Block) -> Recipe:
    """A recipe of these keys; unknown ones are options of the optimiser."""
    common = {key: value for key, value in keys.items() if key in KEYS}
    options = tuple(sorted((key, value) for key, value in keys.items() if key not in KEYS))
    return Recipe(**(common | {"halve_at": tuple(keys.get("halve_at", ())), "options": options}))
