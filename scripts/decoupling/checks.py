"""What is wrong with a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from .config import NOT_ONE_PANEL, SETTING_DEFAULTS, Config
from .gaps import last_decade
from .recipes import ARMS
from .spec import SpecError, mixture_from_config
from .studies import KINDS, bases, kind

SCOREBOARD = "scoreboard"  # figures/scoreboard.pdf is not a setting's
PANEL_ONLY = ("setting", "title", "arms", "dashed", "dashed_arms", "overlay")
STUDY_NEEDS = {"rates": ("n",), "noise": ("n", "noise_var"), "assumption1": ("n",)}
STUDY_TAKES = STUDY_NEEDS | {"noise": ("n", "noise_var", "bayes")}


def problems(config: Config, schema: Mapping[str, Any]) -> list[str]:
    """A line for everything that is wrong: the key's path, what is wrong, and the fix."""
    errors = Draft202012Validator(schema).iter_errors(config)
    found = sorted({_schema_problem(error) for error in errors})
    broken = {".".join(line.split(":")[0].split(".")[:2]) for line in found}
    for name, block in _blocks(config, "settings"):
        if f"settings.{name}" not in broken:
            found += _setting_problems(name, block)
    if not found:
        found += _reference_problems(config)
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
        return f"{path}: the name {value!r} is not allowed; use letters, digits, _ and -"
    if isinstance(value, str) and _is_float(value):
        return f"{path}: {value!r} was read as text; write {float(value)!r} (YAML needs 1.0e-3)"
    wanted = error.schema.get("description", "")
    hint = f"; this is: {wanted}" if wanted else ""
    if error.validator == "minItems":
        return f"{path}: is empty; give at least one entry{hint}"
    return f"{path}: {error.message}{hint}"


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


def _reference_problems(config: Config) -> list[str]:
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
        found += _figure_problems(name, block, settings, figures)
    for key, blocks in (("settings", settings), ("figures", figures)):
        if SCOREBOARD in blocks:
            found.append(f"{key}.{SCOREBOARD}: the name is taken; use another")
    return found


def _figure_problems(name: str, block: Config, settings: Config, figures: Config) -> list[str]:
    path = f"figures.{name}"
    if kind(block):
        return _study_problems(path, block, settings)
    study_only = [key for key in ("n", "noise_var") if key in block]
    if study_only:
        needed = ", ".join(KINDS)
        return [f"{path}.{key}: is for {needed}; a panel has its setting's" for key in study_only]
    for key in ("overlay", "bayes"):
        if key in block and not NOT_ONE_PANEL.isdisjoint(block):
            return [f"{path}.{key}: is for one panel; put it in the panel's own entry"]
    if "panels" in block:
        return [
            f"{path}.panels[{i}]: there is no panel {panel!r}; name a setting or a one-panel figure"
            for i, panel in enumerate(block["panels"])
            if not NOT_ONE_PANEL.isdisjoint(figures.get(panel, {}))
            or (panel not in figures and panel not in settings)
        ]
    key = "overview" if "overview" in block else "setting"
    source = block.get(key, name)
    if source not in settings:
        return [f"{path}.{key}: there is no setting {source!r}; use one of {', '.join(settings)}"]
    filled = SETTING_DEFAULTS | dict(settings[source])
    found = [
        f"{path}.arms: {arm} is not trained in settings.{source}; add it to settings.{source}.arms"
        for arm in block.get("arms", [])
        if arm not in filled["arms"]
    ]
    if block.get("dashed") == "reduced" and "reduced" not in filled["models"]:
        found.append(f"{path}.dashed: settings.{source}.models lacks reduced; add it")
    if block.get("overlay") == "published" and 1 not in filled["layers"]:
        found.append(f"{path}.overlay: published risks are of one layer; remove it")
    if key == "overview" and (missing := sorted({*SETTING_DEFAULTS["arms"]} - {*filled["arms"]})):
        found.append(f"{path}.overview: settings.{source}.arms lacks {', '.join(missing)}; add it")
    return found


def _study_problems(path: str, block: Config, settings: Config) -> list[str]:
    name = kind(block)
    found = [
        f"{path}.{key}: means nothing beside {name}; remove it"
        for key in (*PANEL_ONLY, *sorted(NOT_ONE_PANEL), "n", "noise_var", "bayes")
        if key in block and key not in (name, *STUDY_TAKES[name])
    ]
    found += [
        f"{path}.{key}: is missing; {name} needs it"
        for key in STUDY_NEEDS[name]
        if key not in block
    ]
    found += [
        f"{path}.{name}: there is no setting {base!r}; use one of {', '.join(settings)}"
        for base in bases(block)
        if base not in settings
    ]
    if name == "rates" and len(last_decade(block.get("n", [1, 1]))) < 2:
        found.append(f"{path}.n: slopes are fitted to the last decade; give two lengths in it")
    return found


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
