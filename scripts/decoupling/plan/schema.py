"""The config's schema: problems of each block alone, in plain words with the fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from .. import figures, models, sources
from ..config.protocols import recipe_names
from ..config.settings import Block
from ..figures.lines import COMPUTED
from ..models.arms import ARMS
from ..train import optimisers
from ..train.recipe import ARM_KEYS, KEYS
from ..validation import is_finite, is_integer, is_number, number_as_text

RENAMED = {  # former keys of the config
    "race": "halve_at",
    "race_group": "halving_group",
    "wide_contexts": "importance_sampling",
    "gradient": "batch_size",
    "forgetting": "beta2_decay",
}
TYPE_WORDS = {
    "object": "a block of keys",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}

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


def problems(raw: Block, schema: Mapping[str, Any]) -> set[Problem]:
    """Problems of each block alone."""
    schema = _filled(schema)
    found = {*_problems((), schema, raw)}
    for name, block in blocks(raw, "settings"):
        found |= {*_setting_problems(("settings", name), block, schema["$defs"])}
    for name, block in blocks(raw, "figures"):
        found |= {*_figure_problems(("figures", name), block, schema["$defs"])}
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


def _problems(path: Path, schema: Mapping[str, Any], value: Any) -> Iterator[Problem]:
    for error in _Validator(schema).iter_errors(value):
        yield Problem((*path, *error.absolute_path), _text(error))


def _setting_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
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
    yield from _problems(path, schema, block)


def _figure_problems(path: Path, block: Block, defs: Block) -> Iterator[Problem]:
    kinds = figures.kinds()
    kind = block.get("kind", "panel")
    if not isinstance(kind, str):
        kind = "panel"  # the schema reports it
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
    yield from _problems(path, schema, block)


def blocks(raw: Block, key: str) -> list[tuple[str, Block]]:
    """Blocks by name, without entries that are no blocks, which the schema reports."""
    found = raw.get(key)
    if not isinstance(found, Mapping):
        return []
    return [(name, block) for name, block in found.items() if isinstance(block, Mapping)]


def _text(error: ValidationError) -> str:
    value = error.instance
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(value) - set(known), key=str)
        renamed = [key for key in unknown if RENAMED.get(key) in known]
        if renamed:
            return ", ".join(f"{key} is called {RENAMED[key]} now" for key in renamed) + "; rename"
        return f"unknown key {', '.join(map(repr, unknown))}; known are {', '.join(known)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in value]
        return f"{', '.join(missing)} is missing; add it"
    if error.validator == "pattern":
        return (
            f"the name {value!r} is not allowed; use letters, digits, _ and -, and do not begin"
            " with -"
        )
    if text := number_as_text(value):
        return text
    if is_number(value) and not is_finite(value):
        return f"{value} is not finite; give a finite number"
    wanted = error.schema.get("description", "")
    hint = f"; this is: {wanted}" if wanted else ""
    if error.validator == "type":
        return f"{_type_problem(value, error.validator_value)}{hint}"
    if error.validator == "minItems":
        return f"is empty; give at least one entry{hint}"
    if error.validator == "oneOf":
        return f"{value!r} does not fit{hint}"
    if error.validator == "uniqueItems":
        return f"{value!r} repeats itself; give every entry once"
    return f"{error.message}{hint}"


def _type_problem(value: Any, wanted: str) -> str:
    words = TYPE_WORDS[wanted]
    if value is None:
        return f"is empty; give {words}"
    if wanted == "integer" and is_number(value) and value == int(value):
        return f"{value} is not {words}; write {int(value)}"
    if wanted == "array" and not isinstance(value, Mapping):
        return f"{value!r} is not {words}; write [{value}]"
    if wanted == "string" and is_number(value):
        return f"{value} is not {words}; write '{value}'"
    return f"{value!r} is not {words}; give {words}"
