"""Problems of a config: a line each, with the key and the fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, validators

from .. import figures, models, sources
from ..config import Config
from ..config.protocols import Protocol, RecipeBlock, recipe_names
from ..config.settings import Block, Setting
from ..errors import InputError
from ..figures import Figure
from ..figures.explorer import SYMBOLS
from ..figures.lines import COMPUTED
from ..models.arms import ARMS
from ..models.curve import Curve
from ..train import optimisers
from ..train.recipe import ARM_KEYS, BATCH_STEP, KEYS, Recipe
from ..validation import is_finite, is_integer
from . import jobs
from .messages import schema_text

SCOREBOARD = "scoreboard"  # the name of the figure that every config has
# folders of data/ that a protocol must not have
FOLDERS = (
    *("archive", "archived", "bayes", "identity", "published", "redrawn", "sampled", "specs"),
    *("tables", "theory"),
)

# Stricter than JSON schema: NaN is no number, and 2.0 no integer, as file names need it.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {
        "integer": lambda _, value: is_integer(value),
        "number": lambda _, value: is_finite(value),
    }
)
_Validator = validators.extend(Draft202012Validator, type_checker=_TYPES)

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    path: Path  # of the key
    text: str  # with the fix

    def __str__(self) -> str:
        keys = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path)
        return f"{keys.lstrip('.') or 'config'}: {self.text}"


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


def schema_problems(raw: Block, schema: Mapping[str, Any]) -> set[Problem]:
    """Problems of each block alone."""
    schema = _filled(schema)
    found = {*_schema_problems((), schema, raw)}
    for name, block in blocks(raw, "settings"):
        found |= {*_setting_schema_problems(("settings", name), block, schema["$defs"])}
    for name, block in blocks(raw, "figures"):
        found |= {*_figure_schema_problems(("figures", name), block, schema["$defs"])}
    return found


def _filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the library's lists filled in: arms, models, recipes and their keys."""
    defs = dict(schema["$defs"])
    defs["recipe"] = _recipe_schema(defs["recipe"])
    defs["arm"] = defs["arm"] | {"enum": list(ARMS)}
    defs["dashed"] = defs["dashed"] | {"enum": [*COMPUTED, *models.names(), "none"]}
    properties = defs["protocol"]["properties"] | {
        name: {"$ref": "#/$defs/recipe"} for name in recipe_names()
    }
    defs["protocol"] = defs["protocol"] | {"properties": properties}
    named = defs["setting"]["properties"]["models"] | {"items": {"enum": models.names()}}
    properties = defs["setting"]["properties"] | {"models": named}
    defs["setting"] = defs["setting"] | {"properties": properties}
    return {**schema, "$defs": defs}


def _recipe_schema(block: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's schema: `block`, with the fields of `Recipe` and the options of optimisers."""
    own = block["properties"]
    differing = {"properties": {key: KEYS[key] for key in ARM_KEYS}}
    arms = own["arms"] | {"additionalProperties": own["arms"]["additionalProperties"] | differing}
    chosen = KEYS["optimiser"] | {"enum": list(optimisers.modules())}
    keys = KEYS | {"optimiser": chosen} | optimisers.keys()
    return {**block, "properties": keys | own | {"arms": arms}}


def _schema_problems(path: Path, schema: Mapping[str, Any], value: Any) -> Iterator[Problem]:
    for error in _Validator(schema).iter_errors(value):
        yield Problem((*path, *error.absolute_path), schema_text(error))


def _setting_schema_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
    source = sources.source_of(block)
    source = source if isinstance(source, str) else sources.DEFAULT  # the schema reports it
    if source not in sources.blocks():
        known = ", ".join(sources.blocks())
        yield Problem((*path, "source"), f"there is no source {source!r}; use one of {known}")
        return
    own = sources.blocks()[source]
    schema = {
        **defs["setting"],
        "$defs": defs,
        "additionalProperties": False,
        "required": [*own.REQUIRED, *defs["setting"]["required"]],
        "properties": own.PROPERTIES | models.keys() | defs["setting"]["properties"],
    }
    yield from _schema_problems(path, schema, block)


def _figure_schema_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
    kinds = figures.kinds()
    kind = _chosen(block, "kind", "panel")
    if kind not in kinds:
        text = f"there is no kind {kind!r}; use one of {', '.join(kinds)}"
        yield Problem((*path, "kind"), text)
        return
    common = defs["figure"]["properties"]
    for key in sorted(set(block) - {*common, *kinds[kind].properties}, key=str):
        others = [name for name, other in kinds.items() if key in other.properties]
        if key in kinds:
            yield Problem((*path, key), f"is a kind of figure; write kind: {key}")
        elif others:
            fix = f"is for kind {' or '.join(others)}; put it in the entry of one, or remove it"
            yield Problem((*path, key), fix)
        else:
            known = ", ".join([*common, *kinds[kind].properties])
            yield Problem(path, f"unknown key {key!r}; known are {known}")
    for key in kinds[kind].required:
        if key not in block:
            yield Problem((*path, key), f"is missing; {kind} needs it")
    schema = {**defs["figure"], "$defs": defs, "properties": common | kinds[kind].properties}
    yield from _schema_problems(path, schema, block)


def _chosen(block: Block, key: str, default: str) -> str:
    """The value, or the default if it is no text, which the schema reports."""
    value = block.get(key, default)
    return value if isinstance(value, str) else default


def blocks(raw: Block, key: str) -> list[tuple[str, Block]]:
    """Blocks by name, without entries that are no blocks, which the schema reports."""
    found = raw.get(key)
    if not isinstance(found, Mapping):
        return []
    return [(name, block) for name, block in found.items() if isinstance(block, Mapping)]


def setting_problems(setting: Setting, block: Block) -> list[str]:
    """Problems found by its source and its models; it was read from `block`."""
    name, source = setting.name, sources.blocks()[setting.source]
    found = []
    if hasattr(source, "problems"):
        found += source.problems(name, setting.block, setting.n)
    else:
        try:
            source.make_spec(name, setting.block)
        except InputError as error:
            found += error.problems
    for curve in setting.curves:
        if curve.model_class.engine not in source.ENGINES:
            if curve.layers > 1:
                fix = "serves models of one layer; use layers: [1]"
                found.append(f"settings.{name}.layers: a {setting.source} {fix}")
            else:
                served = [
                    model.name
                    for model in models.modules().values()
                    if model.supports_depth(1) and model.engine in source.ENGINES
                ]
                fix = f"cannot serve {curve.model}; use {' or '.join(sorted(served))}"
                found.append(f"settings.{name}.models: a {setting.source} {fix}")
            break
    trained = {curve.arm for curve in setting.curves}
    for arm in block.get("arms", ()):
        if arm not in trained and trained:
            text = f"no model of the setting has {arm}; remove it"
            found.append(f"settings.{name}.arms: {text}")
    if not trained:
        reason = setting.unsupported(setting.arms[0])
        text = f"the {setting.model} model {reason}; add another arm"
        found.append(f"settings.{name}.arms: {text}")
    return found + [f"settings.{name}.{key}: {text}" for key, text in _size_problems(setting)]


def _size_problems(setting: Setting) -> Iterator[tuple[str, str]]:
    found = models.modules().values()
    for key in setting.sizes:
        able = sorted({model.name for model in found if key in model.keys})
        if not set(able) & set(setting.models):
            yield key, f"is of {' or '.join(able)}; add it to models, or remove this"
    if not any(models.find(setting.model, depth) for depth in setting.layers):
        depths = [depth for depth in (1, 2) if models.find(setting.model, depth)]
        yield "layers", f"there is no {setting.model} of so many; use layers: [{depths[0]}]"
    yield from dict.fromkeys(p for curve in setting.curves for p in curve.build().problems())


def protocol_problems(config: Config, raw: Block) -> Iterator[Problem]:
    if config.protocol is None:
        known = ", ".join(config.protocols)
        text = f"there is no protocol {raw['protocol']!r}; use one of {known}"
        yield Problem(("protocol",), text)


def base_problems(figure: Figure, settings: Mapping[str, Setting]) -> Iterator[Problem]:
    """Settings that a figure names and that do not exist, or that its kind cannot draw."""
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
    """Problems found by its kind, and those of the settings derived for it."""
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
    """What needs more memory than a job can have, in the active protocol."""
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
