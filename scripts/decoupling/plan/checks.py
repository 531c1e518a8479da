"""Problems of a config that its schema cannot see: a line each, with the key and the fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .. import figures, models, sources
from ..config import Config
from ..config.protocols import Protocol, RecipeBlock, recipe_names
from ..config.settings import Block, Setting
from ..errors import InputError
from ..figures import Figure
from ..figures.explorer import SYMBOLS
from ..models.arms import ARMS
from ..models.curve import Curve
from ..train import optimisers
from ..train.recipe import BATCH_STEP, Recipe
from . import jobs
from .schema import Problem

SCOREBOARD = "scoreboard"  # the name of the figure that every config has
# folders of data/ that a protocol must not have
FOLDERS = (
    *("archive", "archived", "bayes", "identity", "published", "redrawn", "sampled", "specs"),
    *("tables", "theory"),
)


def model_problems() -> Iterator[str]:
    """Problems of the models' files, not of the config."""
    served = {engine for source in sources.blocks().values() for engine in source.ENGINES}
    for module, model in models.modules().items():
        engine = getattr(model, "engine", None)
        if engine not in served:
            fix = f"use one of {', '.join(sorted(served))}"
            yield f"models/{module}.py: no source serves the engine {engine!r}; {fix}"


def arm_problems() -> Iterator[str]:
    """Problems of models/arms.py: looks that cannot be drawn, or that two arms share."""
    for name, arm in ARMS.items():
        if not re.fullmatch("#[0-9A-F]{6}", arm.colour):
            yield f"models/arms.py: {name}: {arm.colour!r} is no colour; write #RRGGBB, in capitals"
        if arm.marker not in SYMBOLS:
            free = [marker for marker in SYMBOLS if marker not in {a.marker for a in ARMS.values()}]
            fix = f"use one of {' '.join(free)}"
            yield f"models/arms.py: {name}: {arm.marker!r} is no filled marker; {fix}"
    for look in ("label", "colour", "marker"):
        owners: dict[str, str] = {}
        for name, arm in ARMS.items():
            value = getattr(arm, look)
            other = owners.setdefault(value, name)
            if other != name:
                text = f"{other} and {name} have the same {look}, {value!r}; change one"
                yield f"models/arms.py: {text}"


def source_problems(setting: Setting) -> list[str]:
    """Problems that a setting's source finds in its block."""
    source = sources.blocks()[setting.source]
    if hasattr(source, "problems"):
        return source.problems(setting.name, setting.block, setting.n)
    try:
        source.make_spec(setting.name, setting.block)
    except InputError as error:
        return error.problems
    return []


def setting_problems(setting: Setting, block: Block) -> Iterator[Problem]:
    """Problems of a setting's models, arms and sizes; it was read from `block`."""
    for found in (
        _engine_problems(setting),
        _arm_problems(setting, block),
        _size_problems(setting),
    ):
        yield from (Problem(("settings", setting.name, key), text) for key, text in found)


def _engine_problems(setting: Setting) -> Iterator[tuple[str, str]]:
    """The first curve whose model sees contexts in a way that the source does not serve."""
    engines = sources.blocks()[setting.source].ENGINES
    curve = next((c for c in setting.curves if c.model_class.engine not in engines), None)
    if curve is None:
        return
    if curve.layers > 1:
        yield "layers", f"a {setting.source} serves models of one layer; use layers: [1]"
        return
    one_layer = (model for model in models.modules().values() if model.supports_depth(1))
    served = sorted(model.name for model in one_layer if model.engine in engines)
    yield "models", f"a {setting.source} cannot serve {curve.model}; use {' or '.join(served)}"


def _arm_problems(setting: Setting, block: Block) -> Iterator[tuple[str, str]]:
    trained = {curve.arm for curve in setting.curves}
    if not trained:
        reason = setting.unsupported(setting.arms[0])
        yield "arms", f"the {setting.model} model {reason}; add another arm"
        return
    for arm in block.get("arms", ()):
        if arm not in trained:
            yield "arms", f"no model of the setting has {arm}; remove it"


def _size_problems(setting: Setting) -> Iterator[tuple[str, str]]:
    found = models.modules().values()
    for key in setting.sizes:
        able = sorted({model.name for model in found if key in model.keys})
        if not set(able) & set(setting.models):
            yield key, f"is a key of {' or '.join(able)}; add it to models, or remove this"
    if not any(models.find(setting.model, depth) for depth in setting.layers):
        depths = [depth for depth in (1, 2) if models.find(setting.model, depth)]
        yield "layers", f"there is no {setting.model} with so many; use layers: [{depths[0]}]"
    yield from dict.fromkeys(p for curve in setting.curves for p in curve.build().problems())


def protocol_problems(config: Config, raw: Block) -> Iterator[Problem]:
    if config.protocol is None:
        known = ", ".join(config.protocols)
        text = f"there is no protocol {raw['protocol']!r}; use one of {known}"
        yield Problem(("protocol",), text)


def base_problems(figure: Figure, settings: Mapping[str, Setting]) -> Iterator[Problem]:
    """Settings that a figure names, if they do not exist or its kind cannot draw them."""
    path = ("figures", figure.name, "settings" if "settings" in figure.block else "setting")
    for base in figure.setting_names:
        if base not in settings:
            known = ", ".join(settings)
            yield Problem(path, f"there is no setting {base!r}; use one of {known}")
        elif not figure.can_draw(settings[base]):
            able = [kind for kind in figures.kinds().items() if kind[1].can_draw(settings[base])]
            fix = " or ".join(name for name, kind in able if kind.may_share_name)
            text = f"{figure.kind} draws {figure.subject}, which settings.{base} is not"
            yield Problem(path, f"{text}; name another, or use kind {fix}")


def figure_problems(figure: Figure, made: Iterable[Setting], config: Config) -> Iterator[Problem]:
    """Problems found by the figure's kind, and those of the settings derived for it."""
    path = ("figures", figure.name)
    yield from (Problem((*path, key), text) for key, text in figure.problems(config))
    wrong = (p for one in made for curve in one.curves for p in curve.build().problems())
    yield from (Problem(path, text) for _, text in dict.fromkeys(wrong))


def name_problems(figure: Figure, settings: Mapping[str, Setting]) -> Iterator[Problem]:
    same = figure.may_share_name and figure.setting_names == [figure.name]
    if figure.name in settings and not same:
        text = f"figures.{figure.name} draws something else; rename one"
        yield Problem(("settings", figure.name), text)


def taken_problems(raw: Block) -> Iterator[Problem]:
    taken = [(key, SCOREBOARD) for key in ("settings", "figures")]
    taken += [("protocols", folder) for folder in FOLDERS]
    for key, name in taken:
        if name in (raw.get(key) or {}):
            yield Problem((key, name), "the name is taken; use another")


def option_problems(raw: Block) -> Iterator[Problem]:
    """Options that do not belong to the recipe's optimiser."""
    for name, protocol in raw["protocols"].items():
        for recipe in sorted(set(recipe_names()) & set(protocol)):
            chosen = protocol[recipe].get("optimiser", Recipe.optimiser)
            for key in sorted(set(protocol[recipe]) & set(optimisers.keys())):
                able = [one for one, made in optimisers.modules().items() if key in made.KEYS]
                if chosen not in able:
                    text = f"is an option of {' or '.join(able)}; set optimiser, or remove it"
                    yield Problem(("protocols", name, recipe, key), text)


FIXES = {
    "n": "use shorter n, or a smaller d",
    "d": "use a smaller d, or fewer seeds_per_job",
    "batch_size": "use a smaller d or batch_size, or batch_size: exact",
}


def size_problems(config: Config, settings: Iterable[Setting]) -> Iterator[Problem]:
    """Settings whose training by the active protocol needs more memory than a job can have."""
    for setting in settings:
        asked = jobs.mem_mb(config.protocol, setting)
        if asked > jobs.MOST_MB:
            parts = jobs.growing_mb(config.protocol, setting)
            largest = max(parts, key=parts.get)
            key = "n" if largest == "n" else "d"
            text = (
                f"training by {config.protocol.name} needs {asked // 1000} GB a job, more than"
                f" {jobs.MOST_MB // 1000}; {FIXES[largest]}"
            )
            yield Problem(("settings", setting.name, key), text)


def recipe_problems(config: Config, settings: Iterable[Setting]) -> Iterator[Problem]:
    """Problems of recipes; only the active protocol needs one for every trained curve."""
    curves = [curve for setting in settings for curve in setting.curves]
    for name, protocol in config.protocols.items():
        trained: dict[str, list[Curve]] = {}
        for curve in curves:
            trained.setdefault(protocol.recipe_of(curve), []).append(curve)
        if protocol is config.protocol:
            lacking = (protocol.unsupported(trained[recipe][0]) for recipe in sorted(trained))
            yield from (Problem(("protocols", name), text) for text in lacking if text)
        for recipe, block in sorted(protocol.recipes.items()):
            found = {model for model in models.modules().values() if model.recipe == recipe}
            found |= {curve.model_class for curve in trained.get(recipe, ())}
            exact = all(model.exact() for model in found)
            if block.general.importance_sampling and {model.engine for model in found} != {"gram"}:
                text = "only linear attention of several layers has these; remove it"
                yield Problem(("protocols", name, recipe, "importance_sampling"), text)
            for key, text in _training_problems(protocol, block, exact):
                yield Problem(("protocols", name, recipe, key), text)


def _training_problems(
    protocol: Protocol, block: RecipeBlock, exact: bool
) -> Iterator[tuple[str, str]]:
    """`exact`: whether all the recipe's models depend on contexts through moments alone."""
    recipe = block.general
    if recipe.batch_size == "exact" and not exact:
        yield "batch_size", "exact is for linear attention of one layer; give a batch size"
    if recipe.batch_size == "exact" and recipe.batch_growth != 1:
        yield "batch_growth", "there are no batches with batch_size: exact; remove it"
    if recipe.batch_growth != 1 and recipe.batch_size != "exact" and recipe.batch_size % BATCH_STEP:
        text = (
            f"batches grow by multiples of {BATCH_STEP}; use a multiple of it, or no batch_growth"
        )
        yield "batch_size", text
    for arm, made in block.arms.items():
        if made.halve_at not in (recipe.halve_at, ()) and not ARMS[arm].trains.weights:
            yield f"arms.{arm}.halve_at", "fine-tuned seeds are not halved; remove it"
    scratch = {
        f"arms.{arm}.halve_at": r for arm, r in block.arms.items() if ARMS[arm].trains.weights
    }
    halving = {key: made for key, made in ({"halve_at": recipe} | scratch).items() if made.halve_at}
    if not halving:
        return
    for key, made in halving.items():
        moments, last = [round(share * made.iterations) for share in made.halve_at], made.iterations
        if len(set(moments)) < len(moments) or not 0 < min(moments) <= max(moments) < last:
            yield key, f"stops would be at iterations {moments} of {last}; use other shares"
    if exact:
        for key in (
            k for k, made in halving.items() if k == "halve_at" or made.halve_at != recipe.halve_at
        ):
            yield key, "models of one layer share their work and are not halved; remove it"
        return
    if not recipe.halving_group:
        yield "halving_group", "is missing; halve_at needs it"
        return
    per_job = block.seeds_per_job or protocol.seeds_per_job
    sizes = {"seeds": block.seeds, "seeds_per_job": per_job}
    for key, size in sizes.items():
        whole = key == "seeds_per_job" and size >= block.seeds  # one job trains all seeds
        if size % recipe.halving_group and not whole:
            fix = f"{key} is {size}, no multiple of {recipe.halving_group}; use one that divides it"
            yield "halving_group", fix
