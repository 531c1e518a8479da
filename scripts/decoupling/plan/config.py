"""The config, read once: protocols, settings and figures, with every default filled in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..figures import Figure
from ..models import Model
from ..models.arms import ARMS
from ..theory.theorems import THEOREMS
from ..train.recipe import KEYS, Recipe, Run
from . import registry

Block = Mapping[str, Any]

SOURCE = "gaussian"  # of settings that do not say
SETTING_KEYS = ("source", "n", "models", "layers", "arms")  # whatever the source
DEFAULTS = {"models": ["attention"], "layers": [1], "arms": list(THEOREMS)}


@dataclass(frozen=True)
class Curve:
    """A trained curve: an arm of a model in a setting, against n."""

    setting: str
    module: str  # of the model
    layers: int
    arm: str
    own_recipe: str | None = None  # its source's, in protocols that have it
    sizes: tuple[tuple[str, int], ...] = ()  # the model's own, by name

    @property
    def model(self) -> type[Model]:
        return registry.model_modules()[self.module]

    @property
    def name(self) -> str:
        """The model's, in the config and in tables."""
        return self.model.name

    @property
    def prompted(self) -> bool:
        return ARMS[self.arm].prompted

    @property
    def made(self) -> Model:
        """The model, of whatever mixture: to ask what it contains."""
        return self.model(1, 1, self.layers, **dict(self.sizes))


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
    def recipe(self) -> str | None:
        """The recipe that its source asks for, if it does."""
        return getattr(registry.source_blocks()[self.source], "RECIPE", None)

    @property
    def parts(self) -> dict[str, Setting]:
        """The settings that are trained in its place, by name: a table's folds."""
        parts = getattr(registry.source_blocks()[self.source], "parts", None)
        if parts is None or "fold" in self.block:
            return {}
        made = parts(self.name, self.block)
        return {name: replace(self, name=name, block=block) for name, block in made.items()}

    @cached_property
    def curves(self) -> list[Curve]:
        """Everything that is trained. A model that has no other depth is of one layer."""
        found = []
        for name in self.models:
            depths = [depth for depth in self.layers if registry.find_model(name, depth)] or [1]
            for layers in depths:
                module = registry.find_model(name, layers)
                common = module, layers
                rest = self.recipe, self._sizes_of(module)
                curves = [Curve(self.name, *common, arm, *rest) for arm in self.arms]
                found += [curve for curve in curves if curve.model.lacks(ARMS[curve.arm]) is None]
        return found

    def _sizes_of(self, module: str) -> tuple[tuple[str, int], ...]:
        model = registry.model_modules()[module]
        return tuple((key, self.sizes.get(key, getattr(model, key))) for key in model.keys)

    @property
    def depths(self) -> list[int]:
        """Of the model that a panel draws."""
        return sorted({curve.layers for curve in self.curves if curve.name == self.model})

    def lacks(self, arm: str) -> str | None:
        """Why the model that a panel draws does not have an arm, if it does not."""
        depths = [depth for depth in self.layers if registry.find_model(self.model, depth)] or [1]
        found = [registry.find_model(self.model, depth) for depth in depths]
        reasons = [registry.model_modules()[module].lacks(ARMS[arm]) for module in found]
        return reasons[0] if all(reasons) else None

    def drawn(self, model: str, layers: int, arms: Iterable[str]) -> list[Curve]:
        """The curves of a model and depth, in the order of `arms`."""
        there = {c.arm: c for c in self.curves if (c.name, c.layers) == (model, layers)}
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


@dataclass(frozen=True, eq=False)
class RecipeBlock:
    """How the models that take this block are trained."""

    seeds: int
    general: Recipe
    arms: Mapping[str, Recipe]  # where an arm differs

    def of(self, arm: str) -> Recipe:
        return self.arms.get(arm, self.general)


@dataclass(frozen=True, eq=False)
class Protocol:
    """Seeds, and a recipe for each kind of model."""

    name: str
    seeds: int
    seeds_per_job: int
    device: str
    recipes: Mapping[str, RecipeBlock]

    def recipe_of(self, curve: Curve) -> str:
        """The name of the block that trains it."""
        own = curve.own_recipe
        return own if own in self.recipes else curve.model.recipe

    def run(self, curve: Curve) -> Run:
        block = self.recipes[self.recipe_of(curve)]
        recipe = block.of(curve.arm)
        arm = curve.arm, ARMS[curve.arm]
        return Run(
            curve.module, curve.name, curve.layers, *arm, recipe, block.seeds, sizes=curve.sizes
        )

    def note(self, curves: Iterable[Curve]) -> str:
        """What the protocol is for these curves: the small print of a figure."""
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
        race = _race(runs, block.of("plain"))
        return f"{seeds}{race}, {_gradient(general)}, {min(found):,}{most} iterations"


def _whose(curves: Iterable[Curve], others: Iterable[Curve]) -> str:
    """What a recipe trains, in a word: models, or a depth where others have the same models."""
    names = sorted({curve.name for curve in curves})
    if not set(names) & {curve.name for curve in others}:
        return ", ".join(names)
    return "deeper" if any(curve.layers > 1 for curve in curves) else "1 layer"


def _race(runs: Iterable[Run], plain: Recipe) -> str:
    """What is fine-tuned has the winners of plain's race, or every seed where it has none; whether
    `plain` itself is drawn or not."""
    decided = {run.arm: run.recipe if run.parts.weights else plain for run in runs}
    apart = {arm for arm, recipe in decided.items() if not recipe.race}
    if len(apart) == len(decided):
        return ""
    return f" that race (not {', '.join(sorted(apart))})" if apart else " that race"


def _gradient(recipe: Recipe) -> str:
    if recipe.gradient == "exact":
        return "exact gradient"
    last = recipe.batch_at(recipe.iterations)
    grown = f" to {last:,}" if last != recipe.gradient else ""
    return f"batches of {recipe.gradient:,}{grown}"


@dataclass(frozen=True, eq=False)
class Config:
    """All of it. `settings` has those that figures vary too; `figures` one for every setting."""

    protocol: Protocol  # the active one
    protocols: Mapping[str, Protocol]
    settings: Mapping[str, Setting]
    figures: Mapping[str, Figure]
    published: Collection[tuple[str, str]] = field(default=())  # (setting, arm) with known risks

    def note(self, figure: str) -> str:
        chosen = self.figures[figure]
        curves = chosen.curves(self)
        return self.protocol.note(curves) if curves else chosen.computed

    @cached_property
    def scored(self) -> list[tuple[str, Curve]]:
        """The trained curves of the scoreboard, each with the figure it is on."""
        return [
            (name if curve.setting in figure.bases else curve.setting, curve)
            for name, figure in self.figures.items()
            for curve in dict.fromkeys(figure.scored(self))
        ]


def read_config(raw: Block, published: Collection[tuple[str, str]] = ()) -> Config:
    """Of a config without problems (`checks` finds them)."""
    settings = {name: read_setting(name, block) for name, block in raw["settings"].items()}
    figures = read_figures(raw)
    varied = [s for figure in figures.values() for s in figure.varied(settings)]
    varied += [part for setting in settings.values() for part in setting.parts.values()]
    protocols = read_protocols(raw)
    return Config(
        protocols[raw["protocol"]],
        protocols,
        settings | {setting.name: setting for setting in varied},
        figures,
        published,
    )


def read_setting(name: str, block: Block) -> Setting:
    filled, sizes = DEFAULTS | dict(block), registry.model_keys()
    return Setting(
        name,
        registry.source_of(block, SOURCE),
        {key: value for key, value in block.items() if key not in (*SETTING_KEYS, *sizes)},
        **{key: tuple(filled[key]) for key in ("n", "models", "layers", "arms")},
        sizes={key: value for key, value in block.items() if key in sizes},
    )


def read_figures(raw: Block) -> dict[str, Figure]:
    """By name, sorted; a setting without an entry gets a panel, or what its source says."""
    blocks = {name: _own_figure(name, block) for name, block in raw["settings"].items()}
    blocks |= dict(raw.get("figures") or {})
    return {
        name: registry.kinds()[blocks[name].get("kind", "panel")](name, blocks[name])
        for name in sorted(blocks)
    }


def _own_figure(name: str, block: Block) -> Block:
    """The block of a figure that the config leaves out."""
    source = registry.source_blocks()[registry.source_of(block, SOURCE)]
    kind = getattr(source, "FIGURE", None)
    return {"kind": kind, "settings": [name]} if kind else {}


def read_protocols(raw: Block) -> dict[str, Protocol]:
    return {name: _protocol(name, block) for name, block in raw["protocols"].items()}


def recipe_names() -> list[str]:
    """The blocks that a protocol can have: the models' recipes, and the sources' own."""
    found = {model.recipe for model in registry.model_modules().values()}
    own = (getattr(made, "RECIPE", None) for made in registry.source_blocks().values())
    return sorted(found | set(filter(None, own)))


def _protocol(name: str, block: Block) -> Protocol:
    names = set(recipe_names()) & set(block)
    return Protocol(
        name,
        block["seeds"],
        block["seeds_per_job"],
        block.get("device", "cpu"),
        {recipe: _recipe_block(block[recipe], block["seeds"]) for recipe in names},
    )


def _recipe_block(block: Block, seeds: int) -> RecipeBlock:
    general = {key: value for key, value in block.items() if key not in ("seeds", "arms")}
    arms = {arm: _recipe(general | own) for arm, own in block.get("arms", {}).items()}
    return RecipeBlock(min(seeds, block.get("seeds", seeds)), _recipe(general), arms)


def _recipe(keys: Block) -> Recipe:
    """Keys that are not of every recipe are the optimiser's."""
    common = {key: value for key, value in keys.items() if key in KEYS}
    options = tuple(sorted((key, value) for key, value in keys.items() if key not in KEYS))
    return Recipe(**(common | {"race": tuple(keys.get("race", ())), "options": options}))
