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

KEYS = ("source", "n", "models", "layers", "arms")  # common to all sources
DEFAULTS = {"models": ["attention"], "layers": [1], "arms": list(THEOREMS)}


@dataclass(frozen=True, eq=False)
class Setting:
    """A source's block, context lengths, and what is trained."""

    name: str
    source: str
    block: Block  # keys of the source
    n: tuple[int, ...]
    models: tuple[str, ...]
    layers: tuple[int, ...]
    arms: tuple[str, ...]
    sizes: Block = field(default_factory=dict)  # the sizes of models that the config gives

    @property
    def model(self) -> str:
        """The model that a panel draws."""
        return self.models[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(d, K)."""
        return sources.blocks()[self.source].shape(self.block)

    @property
    def has_mixture(self) -> bool:
        """Whether the block gives a mixture; a table gives rows, from which folds estimate one."""
        return hasattr(sources.blocks()[self.source], "make_spec")

    @property
    def recipe(self) -> str | None:
        """The recipe that its source asks for, or None."""
        return getattr(sources.blocks()[self.source], "RECIPE", None)

    @classmethod
    def read(cls, name: str, block: Block) -> Setting:
        """The setting of a block, which `plan.checks` has found valid."""
        filled, sizes = DEFAULTS | dict(block), models.keys()
        return cls(
            name,
            sources.source_of(block),
            {key: value for key, value in block.items() if key not in (*KEYS, *sizes)},
            **{key: tuple(filled[key]) for key in ("n", "models", "layers", "arms")},
            sizes={key: value for key, value in block.items() if key in sizes},
        )

    @cached_property
    def folds(self) -> dict[str, Setting]:
        """Folds of a table, by name, which are trained in place of the setting."""
        folds = getattr(sources.blocks()[self.source], "folds", None)
        if folds is None or "fold" in self.block:
            return {}
        made = folds(self.name, self.block)
        return {name: replace(self, name=name, block=block) for name, block in made.items()}

    @cached_property
    def curves(self) -> list[Curve]:
        """Every trained curve."""
        found = []
        for name in self.models:
            for layers, module in self._modules(name).items():
                model, rest = models.modules()[module], (self._sizes_of(module), self.recipe)
                found += [
                    Curve(self.name, module, name, layers, arm, ARMS[arm].trains, *rest)
                    for arm in self.arms
                    if model.unsupported(ARMS[arm].trains) is None
                ]
        return found

    def _modules(self, model: str) -> dict[int, str]:
        """A model's module by depth. Models without `layers` have one layer."""
        found = {depth: models.find(model, depth) for depth in self.layers}
        return {d: module for d, module in found.items() if module} or {1: models.find(model, 1)}

    def _sizes_of(self, module: str) -> tuple[tuple[str, int], ...]:
        model = models.modules()[module]
        return tuple((key, self.sizes.get(key, getattr(model, key))) for key in model.keys)

    @property
    def depths(self) -> list[int]:
        """Numbers of layers of the model that a panel draws."""
        return sorted({curve.layers for curve in self.curves if curve.model == self.model})

    def unsupported(self, arm: str) -> str | None:
        """The reason why the model that a panel draws does not have an arm; or None."""
        found = [models.modules()[module] for module in self._modules(self.model).values()]
        reasons = [model.unsupported(ARMS[arm].trains) for model in found]
        return reasons[0] if all(reasons) else None

    def select_curves(self, model: str, layers: int, arms: Iterable[str]) -> list[Curve]:
        """Curves of a model and depth, in the order of `arms`."""
        there = {c.arm: c for c in self.curves if (c.model, c.layers) == (model, layers)}
        return [there[arm] for arm in arms if arm in there]

    def derive(self, name: str, n: Iterable[int], **changes: Any) -> Setting:
        """The setting at other n, with changes to its block. It trains one layer of attention in
        the theorems' four arms."""
        return replace(
            self,
            name=name,
            block={**self.block, **changes},
            n=tuple(n),
            sizes={},
            **{key: tuple(value) for key, value in DEFAULTS.items()},
        )
