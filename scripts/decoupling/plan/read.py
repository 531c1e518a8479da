"""The config, read once: objects, or a line for everything that is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from .. import figures, sources
from ..config import Config
from ..config.protocols import Protocol
from ..config.settings import Block, Setting
from ..errors import InputError
from . import checks


def load(
    raw: Block, schema: Mapping[str, Any], published: Collection[tuple[str, str]] = ()
) -> Config:
    """The config, or InputError with the key's path, what is wrong and the fix, a line each.

    `schema` is config/schema.yaml; what models, sources, kinds and optimisers say of
    themselves is added to it.
    `published` has the (setting, arm) pairs that an overlay can show.
    """
    if lines := [*checks.model_problems(), *checks.arm_problems()]:
        raise InputError(lines)
    found = checks.schema_problems(raw, schema)
    broken = {problem.path[:2] for problem in found}
    settings, lines = {}, sorted(map(str, found))
    for name, block in checks.blocks(raw, "settings"):
        if ("settings", name) not in broken:
            settings[name] = Setting.read(name, block)
            lines += checks.setting_problems(settings[name], block)
    if lines:
        raise InputError(lines)
    protocols = {name: Protocol.read(name, block) for name, block in raw["protocols"].items()}
    config = Config(
        protocols.get(raw["protocol"]), protocols, settings, _figures(raw, settings), published
    )
    return _with_varied(config, raw)


def of_clone(root: Path) -> dict[str, Any]:
    """What `load` is told besides the config: the files of a clone."""
    with open(root / "data/published/authors_risks.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "attention"]
    return {
        "schema": yaml.safe_load((root / "config/schema.yaml").read_text()),
        "published": {(row["setting"], row["arm"]) for row in rows},
    }


def _figures(raw: Block, settings: Mapping[str, Setting]) -> dict[str, figures.Figure]:
    """By name, sorted; a setting without an entry gets a panel, or what its source says."""
    blocks = {name: _own_figure(setting) for name, setting in settings.items()}
    blocks |= dict(raw.get("figures") or {})
    return {
        name: figures.kinds()[blocks[name].get("kind", "panel")](name, blocks[name])
        for name in sorted(blocks)
    }


def _own_figure(setting: Setting) -> Block:
    """The block of a figure that the config leaves out."""
    kind = getattr(sources.blocks()[setting.source], "FIGURE", None)
    return {"kind": kind, "settings": [setting.name]} if kind else {}


def _with_varied(config: Config, raw: Block) -> Config:
    """With the settings that figures make of the config's, and the parts of those that have some;
    or InputError."""
    found = [*checks.protocol_problems(config, raw)]
    varied: list[Setting] = []
    for figure in config.figures.values():
        own = [*checks.base_problems(figure, config.settings)]
        if not own:
            made = figure.varied(config.settings)
            own = [*checks.figure_problems(figure, made, config)]
            varied += made
        found += [*own, *checks.name_problems(figure, config.settings)]
    found += checks.option_problems(raw)
    found += checks.recipe_problems(config, [*config.settings.values(), *varied])
    found += checks.taken_problems(raw)
    if not found:
        found += checks.size_problems(config, [*config.settings.values(), *varied])
    if found:
        raise InputError([str(problem) for problem in found])
    parts = [part for setting in config.settings.values() for part in setting.parts.values()]
    made = {setting.name: setting for setting in (*varied, *parts)}
    return replace(config, settings={**config.settings, **made})
