"""What is wrong with a config."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from .config import NOT_ONE_PANEL, SETTING_DEFAULTS, Config
from .expand import SpecError, is_integer, is_number, mixture_from_config, number_as_text
from .gaps import last_decade
from .recipes import ARMS
from .studies import KINDS, bases, kind

SCOREBOARD = "scoreboard"  # figures/scoreboard.pdf is not a setting's
PANEL_ONLY = ("setting", "title", "arms", "dashed", "dashed_arms", "overlay", "bayes")
STUDY_NEEDS = {"rates": ("n",), "noise": ("n", "noise_var"), "assumption1": ("n",)}
STUDY_TAKES = STUDY_NEEDS | {"noise": ("n", "noise_var", "bayes")}

# JSON has no NaN and takes 2.0 for an integer; YAML and file names do not agree.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {
        "integer": lambda _, value: is_integer(value),
        "number": lambda _, value: is_number(value) and math.isfinite(value),
    }
)
_Validator = validators.extend(Draft202012Validator, type_checker=_TYPES)

Published = Collection[tuple[str, str]]


def problems(config: Config, schema: Mapping[str, Any], published: Published = ()) -> list[str]:
    """A line for everything that is wrong: the key's path, what is wrong, and the fix.
    `published` has the (setting, arm) pairs that an overlay can show."""
    errors = _Validator(schema).iter_errors(config)
    found = sorted({_schema_problem(error) for error in errors})
    broken = {".".join(line.split(":")[0].split(".")[:2]) for line in found}
    for name, block in _blocks(config, "settings"):
        if f"settings.{name}" not in broken:
            found += _setting_problems(name, block)
    if not found:
        found += _reference_problems(config, published)
    return found


def _blocks(config: Config, key: str) -> list[tuple[str, Mapping[str, Any]]]:
    blocks = config.get(key)
    if not isinstance(blocks, Mapping):
        return []
    return [(name, block) for name, block in blocks.items() if isinstance(block, Mapping)]


def _schema_problem(error: ValidationError) -> str:
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
    path = path.lstrip(".") or "config"
    value = error.instance
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(value) - set(known))
        return f"{path}: unknown key {', '.join(map(repr, unknown))}; known are {', '.join(known)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in value]
        return f"{path}: {', '.join(missing)} is missing; add it"
    if error.validator == "pattern":
        return (
            f"{path}: the name {value!r} is not allowed; use letters, digits, _ and -, first no -"
        )
    if text := number_as_text(value):
        return f"{path}: {text}"
    if is_number(value) and not math.isfinite(value):
        return f"{path}: {value} is not finite; give a finite number"
    wanted = error.schema.get("description", "")
    hint = f"; this is: {wanted}" if wanted else ""
    if error.validator == "type":
        return f"{path}: {_type_problem(value, error.validator_value)}{hint}"
    if error.validator == "minItems":
        return f"{path}: is empty; give at least one entry{hint}"
    if error.validator == "oneOf":
        return f"{path}: {value!r} does not fit{hint}"
    if error.validator == "uniqueItems":
        return f"{path}: {value!r} repeats itself; give every entry once"
    return f"{path}: {error.message}{hint}"


TYPE_WORDS = {
    "object": "a block of keys",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}


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


def _setting_problems(name: str, block: Mapping[str, Any]) -> list[str]:
    found = []
    try:
        mixture_from_config(name, block)
    except SpecError as error:
        found += error.problems
    filled = SETTING_DEFAULTS | dict(block)
    if filled["models"] == ["reduced"] and all(ARMS[arm].heads for arm in filled["arms"]):
        found.append(f"settings.{name}.arms: the reduced model has no task heads; add another arm")
    return found


def _reference_problems(config: Config, published: Published) -> list[str]:
    """Names that point nowhere, and what only makes sense together."""
    found = []
    settings, figures = config["settings"], config.get("figures") or {}
    if config["protocol"] not in config["protocols"]:
        known = ", ".join(config["protocols"])
        found.append(f"protocol: there is no protocol {config['protocol']!r}; use one of {known}")
    for name, protocol in config["protocols"].items():
        if protocol["deep"]["gradient"] == "exact":
            found.append(
                f"protocols.{name}.deep.gradient: exact is for one layer; give a batch size"
            )
    for name, block in figures.items():
        found += _figure_problems(name, block, settings, figures, published)
        if name in settings and (
            not NOT_ONE_PANEL.isdisjoint(block) or block.get("setting", name) != name
        ):
            found.append(f"settings.{name}: figures.{name} draws something else; rename one")
    for key, blocks in (("settings", settings), ("figures", figures)):
        if SCOREBOARD in blocks:
            found.append(f"{key}.{SCOREBOARD}: the name is taken; use another")
    return found


def _figure_problems(
    name: str, block: Config, settings: Config, figures: Config, published: Published
) -> list[str]:
    path = f"figures.{name}"
    if kind(block):
        return _study_problems(path, block, settings)
    study_only = [key for key in ("n", "noise_var") if key in block]
    if study_only:
        needed = ", ".join(KINDS)
        return [f"{path}.{key}: is for {needed}; a panel has its setting's" for key in study_only]
    if {"panels", "overview"} <= set(block):
        return [f"{path}: has panels and overview; remove one"]
    if not NOT_ONE_PANEL.isdisjoint(block):
        fix = "is for one panel; put it in the panel's own entry"
        misplaced = [f"{path}.{key}: {fix}" for key in PANEL_ONLY if key in block]
        return misplaced or _layout_problems(path, block, settings, figures)
    return _panel_problems(path, name, block, settings, published)


def _layout_problems(path: str, block: Config, settings: Config, figures: Config) -> list[str]:
    """Of a page of panels, or of the overview."""
    if "panels" in block:
        return [
            f"{path}.panels[{i}]: there is no panel {panel!r}; name a setting or a one-panel figure"
            for i, panel in enumerate(block["panels"])
            if not NOT_ONE_PANEL.isdisjoint(figures.get(panel, {}))
            or (panel not in figures and panel not in settings)
        ]
    source = block["overview"]
    if source not in settings:
        return [_no_setting(f"{path}.overview", source, settings)]
    filled = SETTING_DEFAULTS | dict(settings[source])
    wanted = SETTING_DEFAULTS | {"arms": sorted(SETTING_DEFAULTS["arms"])}
    return [
        f"{path}.overview: settings.{source}.{key} lacks {', '.join(missing)}; add it"
        for key, values in wanted.items()
        if (missing := [str(value) for value in values if value not in filled[key]])
    ]


def _panel_problems(
    path: str, name: str, block: Config, settings: Config, published: Published
) -> list[str]:
    source = block.get("setting", name)
    if source not in settings:
        return [_no_setting(f"{path}.setting", source, settings)]
    filled = SETTING_DEFAULTS | dict(settings[source])
    arms = block.get("arms", filled["arms"])
    found = [
        f"{path}.arms: {arm} is not trained in settings.{source}; add it to settings.{source}.arms"
        for arm in arms
        if arm not in filled["arms"]
    ]
    if filled["models"] == ["reduced"]:
        found += [
            f"{path}.arms: the reduced model has no task heads; remove {arm}"
            for arm in block.get("arms", [])
            if ARMS[arm].heads
        ]
    found += [
        f"{path}.dashed_arms: {arm} is not among the arms of the panel; remove it"
        for arm in block.get("dashed_arms", [])
        if arm not in arms
    ]
    if block.get("dashed") == "reduced" and "reduced" not in filled["models"]:
        found.append(f"{path}.dashed: settings.{source}.models lacks reduced; add it")
    if block.get("dashed", "none") != "none" and 1 not in filled["layers"]:
        found.append(f"{path}.dashed: {block['dashed']} is of one layer; use none")
    if block.get("overlay") == "published":
        if 1 not in filled["layers"]:
            found.append(f"{path}.overlay: published risks are of one layer; remove it")
        elif not any((source, arm) in published for arm in arms):
            found.append(
                f"{path}.overlay: nobody published risks of these arms in settings.{source};"
                " remove it"
            )
    return found


def _no_setting(path: str, name: str, settings: Config) -> str:
    return f"{path}: there is no setting {name!r}; use one of {', '.join(settings)}"


def _study_problems(path: str, block: Config, settings: Config) -> list[str]:
    name = kind(block)
    found = [
        f"{path}.{key}: means nothing beside {name}; remove it"
        for key in (*PANEL_ONLY, *sorted(NOT_ONE_PANEL), "n", "noise_var")
        if key in block and key not in (name, *STUDY_TAKES[name])
    ]
    found += [
        f"{path}.{key}: is missing; {name} needs it"
        for key in STUDY_NEEDS[name]
        if key not in block
    ]
    found += [
        _no_setting(f"{path}.{name}", base, settings)
        for base in bases(block)
        if base not in settings
    ]
    if name == "rates" and len(last_decade(block.get("n", [1, 1]))) < 2:
        found.append(f"{path}.n: slopes are fitted to the last decade; give two lengths in it")
    if name == "assumption1" and len(block.get("n", [1, 1])) < 2:
        found.append(f"{path}.n: a line needs two lengths; add one")
    return found
