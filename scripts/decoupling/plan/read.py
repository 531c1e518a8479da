"""Reading the config, once: objects, or a line for each problem."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from .. import figures, sources
from ..config import Config
from ..config.archive import Archive
from ..config.protocols import Protocol
from ..config.settings import Block, Setting
from ..errors import InputError
from . import checks
from .schema import blocks, problems


def load(
    raw: Block,
    schema: Mapping[str, Any],
    published: Collection[tuple[str, str]] = (),
    archive: Archive | None = None,
) -> Config:
    """The config, or InputError with a line for each problem: the key's path, and the fix.

    `schema` is config/schema.yaml, to which models, sources, kinds and optimisers add their keys.
    `published` has the (setting, arm) pairs that an overlay can show; `archive` is the archive.
    """
    if lines := [*checks.model_problems(), *checks.arm_problems()]:
        raise InputError(lines)
    found = problems(raw, schema)
    broken = {problem.path[:2] for problem in found}
    settings, lines = {}, sorted(map(str, found))
    for name, block in blocks(raw, "settings"):
        if ("settings", name) not in broken:
            settings[name] = Setting.read(name, block)
            lines += checks.source_problems(settings[name])
            lines += map(str, checks.setting_problems(settings[name], block))
    if lines:
        raise InputError(lines)
    protocols = {name: Protocol.read(name, block) for name, block in raw["protocols"].items()}
    config = Config(
        protocols.get(raw["protocol"]),
        protocols,
        settings,
        _figures(raw, settings),
        published,
        raw.get("results", "train"),
        archive or Archive(),
    )
    return _with_derived(config, raw)


def of_clone(root: Path) -> dict[str, Any]:
    """Arguments of `load` besides the config, from the files of a clone."""
    with open(root / "data/published/authors_risks.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "attention"]
    return {
        "schema": yaml.safe_load((root / "config/schema.yaml").read_text()),
        "published": {(row["setting"], row["arm"]) for row in rows},
        "archive": Archive.read(root / "data/archive"),
    }


def _figures(raw: Block, settings: Mapping[str, Setting]) -> dict[str, figures.Figure]:
    """Figures by name, sorted. A setting without an entry gets a panel, or its source's kind."""
    listed = {checks.SCOREBOARD: {"kind": "scoreboard", "section": "Scoreboard"}}
    listed |= {name: _own_figure(setting) for name, setting in settings.items()}
    listed |= dict(raw.get("figures") or {})
    return {
        name: figures.kinds()[listed[name].get("kind", "panel")](name, listed[name])
        for name in sorted(listed)
    }


def _own_figure(setting: Setting) -> Block:
    """The block of a setting's figure where the config has none."""
    kind = getattr(sources.blocks()[setting.source], "FIGURE", None)
    return {"kind": kind, "settings": [setting.name]} if kind else {}


def _with_derived(config: Config, raw: Block) -> Config:
    """The config with derived settings and folds of tables; or InputError."""
    found = [*checks.protocol_problems(config, raw)]
    derived: list[Setting] = []
    for figure in config.figures.values():
        own = [*checks.base_problems(figure, config.settings)]
        if not own:
            made = figure.derived(config.settings)
            own = [*checks.figure_problems(figure, made, config)]
            derived += made
        found += [*own, *checks.name_problems(figure, config.settings)]
    found += checks.option_problems(raw)
    found += checks.recipe_problems(config, [*config.settings.values(), *derived])
    found += checks.taken_problems(raw)
    if not found:
        found += checks.size_problems(config, [*config.settings.values(), *derived])
    if found:
        raise InputError([str(problem) for problem in found])
    folds = [fold for setting in config.settings.values() for fold in setting.folds.values()]
    made = {setting.name: setting for setting in (*derived, *folds)}
    return replace(config, settings={**config.settings, **made})
