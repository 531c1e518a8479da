"""Settings: a mixture or another source of contexts, context lengths, and what is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .. import models, sources
from ..models.arms import ARMS
from ..models.curve import Curve
from ..theory.theorems import THEOREMS

Block = Mapping[str, Any]

KEYS = ("source", "n", "models", "layers", "arms")  # whatever the source
DEFAULTS = {"models": ["attention"], "layers": [1], "arms": list(THEOREMS)}


@dataclass(frozen=True, eq=False)
class Setting:
    """A source's block, context lengths, and what is trained."""

    name: str
    source: str
    block: Block  # the source's keys
    n: tuple[int, ...]
    models: tuple[str, ...]
    layers: tuple[int, ...]
    arms: tuple[str, ...]
    sizes: Block = field(default_factory=dict)  # its models' own, where it says them

    @property
    def model(self) -> str:
        """The one that a panel draws."""
        return self.models[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(d, K)."""
        return sources.blocks()[self.source].shape(self.block)

    @property
    def recipe(self) -> str | None:
        """The recipe that its source asks for, if it does."""
        return getattr(sources.blocks()[self.source], "RECIPE", None)

    @classmethod
    def read(cls, name: str, block: Block) -> Setting:
        """The setting of a block without problems (`plan.checks` finds them)."""
        filled, sizes = DEFAULTS | dict(block), models.keys()
        return cls(
            name,
            sources.source_of(block),
            {key: value for key, value in block.items() if key not in (*KEYS, *sizes)},
            **{key: tuple(filled[key]) for key in ("n", "models", "layers", "arms")},
            sizes={key: value for key, value in block.items() if key in sizes},
        )

    @cached_property
    def parts(self) -> dict[str, Setting]:
        """The settings that are trained in its place, by name: a table's folds."""
        parts = getattr(sources.blocks()[self.source], "parts", None)
        if parts is None or "fold" in self.block:
            return {}
        made = parts(self.name, self.block)
        return {name: replace(self, name=name, block=block) for name, block in made.items()}

    @cached_property
    def curves(self) -> list[Curve]:
        """Everything that is trained. Models without `layers` have one layer."""
        found = []
        for name in self.models:
            depths = [depth for depth in self.layers if models.find(name, depth)] or [1]
            for layers in depths:
                module = models.find(name, layers)
                model, rest = models.modules()[module], (self._sizes_of(module), self.recipe)
                found += [
                    Curve(self.name, module, name, layers, arm, ARMS[arm].trains, *rest)
                    for arm in self.arms
                    if model.lacks(ARMS[arm].trains) is None
                ]
        return found

    def _sizes_of(self, module: str) -> tuple[tuple[str, int], ...]:
        model = models.modules()[module]
        return tuple((key, self.sizes.get(key, getattr(model, key))) for key in model.keys)

    @property
    def depths(self) -> list[int]:
        """The numbers of layers of the model that a panel draws."""
        return sorted({curve.layers for curve in self.curves if curve.model == self.model})

    def lacks(self, arm: str) -> str | None:
        """Why the model that a panel draws does not have an arm, if it does not."""
        depths = [depth for depth in self.layers if models.find(self.model, depth)] or [1]
        found = [models.find(self.model, depth) for depth in depths]
        reasons = [models.modules()[module].lacks(ARMS[arm].trains) for module in found]
        return reasons[0] if all(reasons) else None

    def drawn(self, model: str, layers: int, arms: Iterable[str]) -> list[Curve]:
        """The curves of a model and depth, in the order of `arms`."""
        there = {c.arm: c for c in self.curves if (c.model, c.layers) == (model, layers)}
        return [there[arm] for arm in arms if arm in there]

    def resized(
        self, name: str, n: Iterable[int], arms: Iterable[str], layers: int, **sizes: int
    ) -> Setting:
        """Other sizes of the model that a panel draws."""
        return replace(
            self,
            name=name,
            n=tuple(n),
            models=(self.model,),
            layers=(layers,),
            arms=tuple(arms),
            sizes={**self.sizes, **sizes},
        )

    def varied(self, name: str, n: Iterable[int], **changes: Any) -> Setting:
        """Another n and other numbers of the source. Theorems are of one layer of attention and of
        four arms, whatever else the setting has."""
        return replace(
            self,
            name=name,
            block={**self.block, **changes},
            n=tuple(n),
            sizes={},
            **{key: tuple(value) for key, value in DEFAULTS.items()},
        )
