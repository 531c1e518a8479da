"""What jobs there are: their files, their parameters, and the resources they ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from ..models.arms import ARMS
from ..train.recipe import Run
from . import registry
from .config import Config, Curve, Protocol, Setting

CONTEXTS_PER_MINUTE = 5e6  # one core, three arms of three layers: 7e6 were measured
MOST_MINUTES = 24 * 60  # a day, the limit of many a partition


def canonical_json(value: Any) -> str:
    """One text for one value: recorded as a parameter, it changes only if the value does."""
    return json.dumps(value, sort_keys=True)


@cache
def spec_text(setting: Setting) -> str:
    """The content of a setting's spec."""
    source = registry.source_blocks()[setting.source]
    return source.make_spec(setting.name, setting.block).to_json()


def seed_blocks(protocol: Protocol, setting: Setting) -> list[tuple[int, int]]:
    """(first, last) of each block of seeds that a protocol trains for a setting."""
    seeds = max(run.seeds for run in setting_runs(protocol, setting))
    size = protocol.seeds_per_job
    return [(first, min(first + size, seeds) - 1) for first in range(0, seeds, size)]


@cache
def setting_runs(protocol: Protocol, setting: Setting) -> list[Run]:
    """What a protocol trains for a setting, with the `plain` that fine-tuned arms start from where
    nobody asked for it. Every training job asks, several times."""
    curves = dict.fromkeys(setting.curves, True)
    for curve in setting.curves:
        if not ARMS[curve.arm].weights:
            curves.setdefault(replace(curve, arm="plain"), False)
    return [replace(protocol.run(c), reported=reported) for c, reported in curves.items()]


def block_runs(protocol: Protocol, setting: Setting, first: int, last: int) -> str:
    """What a block of seeds trains. Only what concerns the block is in it, so that asking for more
    seeds leaves the blocks that are there alone."""
    runs = [run for run in setting_runs(protocol, setting) if run.seeds > first]
    return canonical_json([asdict(replace(run, seeds=min(run.seeds, last + 1))) for run in runs])


def run_files(config: Config, protocol: str, setting: str) -> list[str]:
    chosen = config.settings[setting]
    return [
        f"data/{protocol}/runs/{setting}/n{n}/seeds{first}-{last}.parquet"
        for n in chosen.n
        for first, last in seed_blocks(config.protocols[protocol], chosen)
    ]


def train_modules(setting: Setting) -> list[str]:
    """The modules that a setting's training loads by name."""
    found = {f"sources.{setting.source}.contexts"}
    for curve in setting.curves:
        found |= {f"models.{curve.module}", f"engines.{curve.model.view}"}
    return sorted(found)


def train_mem_mb(setting: Setting) -> int:
    """For d = 10, 50 seeds take up to 370 MB in one layer, 890 MB in more."""
    base = 1000 if all(curve.model.exact() for curve in setting.curves) else 2000
    dim, tasks = registry.source_blocks()[setting.source].shape(setting.block)
    # What grows with d: the fourth moments, and tables on the way to them, four a task.
    moments = 4 * tasks * 8 * (dim + 1) ** 4 / 1e6
    return base + round(moments)


def train_minutes(protocol: Protocol, setting: Setting, attempt: int) -> int:
    """Each attempt goes on from the last one's checkpoint, so that none needs to ask for more than
    a day."""
    most = max(_contexts(protocol.run(curve), curve) for curve in setting.curves)
    return min(round(attempt * (30 + most / CONTEXTS_PER_MINUTE)), MOST_MINUTES)


def _contexts(run: Run, curve: Curve) -> int:
    """How many contexts training goes through; seeds may share them."""
    if run.recipe.gradient == "exact":
        return 0
    shared = run.recipe.iterations * run.recipe.gradient
    return shared if curve.model.exact() else shared * run.seeds


def scored_curves(config: Config, bounded: bool = False) -> list[Curve]:
    """The trained curves of the scoreboard; or only those that have computed ones as bounds."""
    return [c for _, c in config.scored if c.model.references or not bounded]


def train_device(protocol: Protocol, setting: Setting) -> str:
    """Models that see only moments are trained on the CPU, whatever the protocol says."""
    return "cpu" if all(curve.model.exact() for curve in setting.curves) else protocol.device


def train_gpus(protocol: Protocol, setting: Setting) -> int | None:
    """A GPU for what is trained on one; None asks for nothing."""
    return 1 if train_device(protocol, setting) == "cuda" else None


def scoreboard_rows(config: Config) -> list[dict[str, Any]]:
    """The rows of the scoreboard, each with what it is compared with."""
    return [
        {
            "panel": panel,
            "setting": curve.setting,
            "model": curve.name,
            "layers": curve.layers,
            "arm": curve.arm,
            "references": list(curve.model.references),
        }
        for panel, curve in config.scored
    ]


def scored_settings(config: Config, bounded: bool = False) -> list[str]:
    """Of the scoreboard; or only those whose curves have computed ones to compare with."""
    return sorted({curve.setting for curve in scored_curves(config, bounded)})


def page_settings(config: Config) -> dict[str, Sequence[str]]:
    """The settings that each page of panels shows."""
    pages = {name: f for name, f in config.figures.items() if "panels" in f.block}
    return {name: list(page.needs(config).specs) for name, page in pages.items()}
