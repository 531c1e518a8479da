"""What is wrong with a config: a line each, with the key and the fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, validators

from ..draw.panels import COMPUTED
from ..models.arms import ARMS
from ..train.recipe import ARM_KEYS, BATCH_STEP, KEYS, Recipe
from . import registry
from .config import (
    SOURCE,
    Block,
    Config,
    Protocol,
    RecipeBlock,
    Setting,
    read_figures,
    read_protocols,
    read_setting,
    recipe_names,
)
from .messages import schema_text
from .values import SpecError, is_finite, is_integer

SCOREBOARD = "scoreboard"  # figures/scoreboard.pdf is not a setting's
# data/<protocol>/ has to be a protocol's alone
FOLDERS = ("bayes", "identity", "published", "reference", "sampled", "specs", "tables", "theory")

# JSON has no NaN and takes 2.0 for an integer; YAML and file names do not agree.
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
    text: str  # what is wrong, and the fix

    def __str__(self) -> str:
        keys = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path)
        return f"{keys.lstrip('.') or 'config'}: {self.text}"


def problems(
    raw: Block, schema: Mapping[str, Any], published: Collection[tuple[str, str]] = ()
) -> list[str]:
    """A line for everything that is wrong: the key's path, what is wrong, and the fix.

    `schema` is config/schema.yaml; what models, sources, kinds and optimisers say of themselves is
    added to it.
    `published` has the (setting, arm) pairs that an overlay can show.
    """
    if lines := [*_model_problems()]:
        return lines
    schema = _filled(schema)
    found = {*_schema_problems((), schema, raw)}
    for name, block in _blocks(raw, "settings"):
        found |= {*_setting_problems(("settings", name), block, schema["$defs"])}
    for name, block in _blocks(raw, "figures"):
        found |= {*_figure_schema_problems(("figures", name), block, schema["$defs"])}
    broken = {problem.path[:2] for problem in found}
    lines = sorted(map(str, found))
    for name, block in _blocks(raw, "settings"):
        if ("settings", name) not in broken:
            lines += _spec_problems(name, block)
    return lines or [str(problem) for problem in _reference_problems(raw, published)]


def _model_problems() -> Iterator[str]:
    """Of the models' own files, not of the config."""
    served = {engine for source in registry.source_blocks().values() for engine in source.ENGINES}
    for module, model in registry.model_modules().items():
        engine = getattr(model, "engine", None)
        if engine not in served:
            fix = f"use one of {', '.join(sorted(served))}"
            yield f"models/{module}.py: no source serves the engine {engine!r}; {fix}"


def _filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the lists that the library has: arms, models, recipes and their keys."""
    defs = dict(schema["$defs"])
    defs["recipe"] = _recipe_schema(defs["recipe"])
    defs["arm"] = defs["arm"] | {"enum": list(ARMS)}
    defs["dashed"] = defs["dashed"] | {"enum": [*COMPUTED, *registry.model_names(), "none"]}
    properties = defs["protocol"]["properties"] | {
        name: {"$ref": "#/$defs/recipe"} for name in recipe_names()
    }
    defs["protocol"] = defs["protocol"] | {"properties": properties}
    models = defs["setting"]["properties"]["models"] | {"items": {"enum": registry.model_names()}}
    properties = defs["setting"]["properties"] | {"models": models}
    defs["setting"] = defs["setting"] | {"properties": properties}
    return {**schema, "$defs": defs}


def _recipe_schema(block: Mapping[str, Any]) -> dict[str, Any]:
    """With the fields of a recipe and the options of optimisers; `block` has what is of neither."""
    own = block["properties"]
    differing = {"properties": {key: KEYS[key] for key in ARM_KEYS}}
    arms = own["arms"] | {"additionalProperties": own["arms"]["additionalProperties"] | differing}
    chosen = KEYS["optimiser"] | {"enum": list(registry.optimisers())}
    keys = KEYS | {"optimiser": chosen} | registry.optimiser_keys()
    return {**block, "properties": keys | own | {"arms": arms}}


def _schema_problems(path: Path, schema: Mapping[str, Any], value: Any) -> Iterator[Problem]:
    for error in _Validator(schema).iter_errors(value):
        yield Problem((*path, *error.absolute_path), schema_text(error))


def _setting_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
    source = registry.source_of(block, SOURCE)
    source = source if isinstance(source, str) else SOURCE  # else the schema's to name
    if source not in registry.source_blocks():
        known = ", ".join(registry.source_blocks())
        yield Problem((*path, "source"), f"there is no source {source!r}; use one of {known}")
        return
    own = registry.source_blocks()[source]
    schema = {
        **defs["setting"],
        "$defs": defs,
        "additionalProperties": False,
        "required": [*own.REQUIRED, *defs["setting"]["required"]],
        "properties": own.PROPERTIES | registry.model_keys() | defs["setting"]["properties"],
    }
    yield from _schema_problems(path, schema, block)


def _figure_schema_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
    kinds = registry.kinds()
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
    """What is not even a text is the schema's to name."""
    value = block.get(key, default)
    return value if isinstance(value, str) else default


def _blocks(raw: Block, key: str) -> list[tuple[str, Block]]:
    blocks = raw.get(key)
    if not isinstance(blocks, Mapping):
        return []
    return [(name, block) for name, block in blocks.items() if isinstance(block, Mapping)]


def _spec_problems(name: str, block: Block) -> list[str]:
    setting = read_setting(name, block)
    source = registry.source_blocks()[setting.source]
    found = []
    if hasattr(source, "problems"):
        found += source.problems(name, setting.block, setting.n)
    else:
        try:
            source.make_spec(name, setting.block)
        except SpecError as error:
            found += error.problems
    for curve in setting.curves:
        if curve.model.engine not in source.ENGINES:
            if curve.layers > 1:
                fix = "serves models of one layer; use layers: [1]"
                found.append(f"settings.{name}.layers: a {setting.source} {fix}")
            else:
                served = [
                    model.name
                    for model in registry.model_modules().values()
                    if model.takes(1) and model.engine in source.ENGINES
                ]
                fix = f"cannot serve {curve.name}; use {' or '.join(sorted(served))}"
                found.append(f"settings.{name}.models: a {setting.source} {fix}")
            break
    trained = {curve.arm for curve in setting.curves}
    for arm in block.get("arms", ()):
        if arm not in trained and trained:
            text = f"no model of the setting has {arm}; remove it"
            found.append(f"settings.{name}.arms: {text}")
    if not trained:
        reason = setting.lacks(setting.arms[0])
        text = f"the {setting.model} model {reason}; add another arm"
        found.append(f"settings.{name}.arms: {text}")
    return found + [f"settings.{name}.{key}: {text}" for key, text in _size_problems(setting)]


def _size_problems(setting: Setting) -> Iterator[tuple[str, str]]:
    modules = registry.model_modules().values()
    for key in setting.sizes:
        able = sorted({model.name for model in modules if key in model.keys})
        if not set(able) & set(setting.models):
            yield key, f"is of {' or '.join(able)}; add it to models, or remove this"
    if not any(registry.find_model(setting.model, depth) for depth in setting.layers):
        depths = [depth for depth in (1, 2) if registry.find_model(setting.model, depth)]
        yield "layers", f"there is no {setting.model} of so many; use layers: [{depths[0]}]"
    yield from dict.fromkeys(p for curve in setting.curves for p in curve.made.problems())


def _reference_problems(raw: Block, published: Collection[tuple[str, str]]) -> Iterable[Problem]:
    """Names that point nowhere, and what only makes sense together."""
    settings = {name: read_setting(name, block) for name, block in raw["settings"].items()}
    protocols, figures = read_protocols(raw), read_figures(raw)
    if raw["protocol"] not in protocols:
        known = ", ".join(protocols)
        text = f"there is no protocol {raw['protocol']!r}; use one of {known}"
        yield Problem(("protocol",), text)
    config = Config(protocols.get(raw["protocol"]), protocols, settings, figures, published)
    trained = list(settings.values())
    for name, figure in figures.items():
        missing = [base for base in figure.bases if base not in settings]
        key = "settings" if "settings" in figure.block else "setting"
        for base in missing:
            text = f"there is no setting {base!r}; use one of {', '.join(settings)}"
            yield Problem(("figures", name, key), text)
        wrong = [b for b in figure.bases if b not in missing and not figure.draws(settings[b])]
        for base in wrong:
            able = [k for k, kind in registry.kinds().items() if kind.draws(settings[base])]
            fix = " or ".join(kind for kind in able if registry.kinds()[kind].own)
            text = f"{figure.kind} draws {figure.subject}, which settings.{base} is not"
            text += f"; name another, or use kind {fix}"
            yield Problem(("figures", name, key), text)
        if not missing and not wrong:
            yield from (Problem(("figures", name, k), t) for k, t in figure.problems(config))
            made = figure.varied(settings)
            trained += made
            wrong_sizes = (p for one in made for curve in one.curves for p in curve.made.problems())
            for _, text in dict.fromkeys(wrong_sizes):
                yield Problem(("figures", name), text)
        same = figure.own and figure.bases == [name]
        if name in settings and not same:
            yield Problem(("settings", name), f"figures.{name} draws something else; rename one")
    yield from _option_problems(raw["protocols"])
    yield from _recipe_problems(protocols, trained)
    taken = [(key, SCOREBOARD) for key in ("settings", "figures")]
    taken += [("protocols", folder) for folder in FOLDERS]
    for key, name in taken:
        if name in (raw.get(key) or {}):
            yield Problem((key, name), "the name is taken; use another")


def _option_problems(protocols: Block) -> Iterator[Problem]:
    """Options of an optimiser that a recipe does not have."""
    for name, protocol in protocols.items():
        for recipe in sorted(set(recipe_names()) & set(protocol)):
            chosen = protocol[recipe].get("optimiser", Recipe.optimiser)
            for key in sorted(set(protocol[recipe]) & set(registry.optimiser_keys())):
                able = [one for one, made in registry.optimisers().items() if key in made.KEYS]
                if chosen not in able:
                    text = f"is an option of {' or '.join(able)}; set optimiser, or remove it"
                    yield Problem(("protocols", name, recipe, key), text)


def _recipe_problems(
    protocols: Mapping[str, Protocol], settings: Iterable[Setting]
) -> Iterator[Problem]:
    curves = [curve for setting in settings for curve in setting.curves]
    for name, protocol in protocols.items():
        needed = {protocol.recipe_of(curve): curve.setting for curve in reversed(curves)}
        for recipe in sorted(set(needed) - set(protocol.recipes)):
            text = f"{recipe} is missing; add it, as settings.{needed[recipe]} needs it"
            yield Problem(("protocols", name), text)
        for recipe, block in sorted(protocol.recipes.items()):
            models = {m for m in registry.model_modules().values() if m.recipe == recipe}
            models |= {curve.model for curve in curves if protocol.recipe_of(curve) == recipe}
            exact = all(model.exact() for model in models)
            if block.general.wide_contexts and {model.engine for model in models} != {"gram"}:
                text = "only linear attention of several layers has these; remove it"
                yield Problem(("protocols", name, recipe, "wide_contexts"), text)
            for key, text in _training_problems(protocol, block, exact):
                yield Problem(("protocols", name, recipe, key), text)


def _training_problems(
    protocol: Protocol, block: RecipeBlock, exact: bool
) -> Iterator[tuple[str, str]]:
    """`exact` says whether moments are all that the recipe's models see."""
    recipe = block.general
    if recipe.gradient == "exact" and not exact:
        yield "gradient", "exact is for linear attention of one layer; give a batch size"
    if recipe.gradient == "exact" and recipe.batch_growth != 1:
        yield "batch_growth", "there are no batches with gradient: exact; remove it"
    if recipe.batch_growth != 1 and recipe.gradient != "exact" and recipe.gradient % BATCH_STEP:
        text = (
            f"batches grow by multiples of {BATCH_STEP}; use a multiple of it, or no batch_growth"
        )
        yield "gradient", text
    for arm, made in block.arms.items():
        if made.race not in (recipe.race, ()) and not ARMS[arm].weights:
            yield f"arms.{arm}.race", "fine-tuned seeds do not race; remove it"
    scratch = {f"arms.{arm}.race": r for arm, r in block.arms.items() if ARMS[arm].weights}
    racing = {key: made for key, made in ({"race": recipe} | scratch).items() if made.race}
    if not racing:
        return
    for key, made in racing.items():
        moments, last = [round(share * made.iterations) for share in made.race], made.iterations
        if len(set(moments)) < len(moments) or not 0 < min(moments) <= max(moments) < last:
            yield key, f"stops would be at iterations {moments} of {last}; use other shares"
    if exact:
        for key in (k for k, made in racing.items() if k == "race" or made.race != recipe.race):
            yield key, "models of one layer share their work and do not race; remove it"
        return
    if not recipe.race_group:
        yield "race_group", "is missing; race needs it"
        return
    sizes = {"seeds": block.seeds, "seeds_per_job": protocol.seeds_per_job}
    for key, size in sizes.items():
        whole = key == "seeds_per_job" and size >= block.seeds  # one job has them all
        if size % recipe.race_group and not whole:
            fix = f"{key} is {size}, no multiple of {recipe.race_group}; use one that divides it"
            yield "race_group", fix
