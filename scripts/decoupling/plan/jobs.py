"""What jobs there are: their files, their parameters, and the resources they ask for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from ..engines import HELD_OUT
from ..figures.prompt_share import PromptShare
from ..models.arms import ARMS
from ..problem.family import controls
from ..problem.mixture import TaskMixture
from ..train.recipe import Run
from . import registry
from .config import SOURCE, Config, Curve, Protocol, Setting

CONTEXTS_PER_MINUTE = 30e6  # one core, three arms of three layers: 60e6 were measured
MADE_TABLES = registry.source_blocks()["table"].MADE  # data/tables/<name>.csv
MOST_MINUTES = 24 * 60  # a day, the limit of many a partition


def canonical_json(value: Any) -> str:
    """One text for one value: recorded as a parameter, it changes only if the value does."""
    return json.dumps(value, sort_keys=True)


@cache
def spec_text(setting: Setting) -> str:
    """The content of a setting's spec."""
    return _mixture(setting).to_json()


@cache
def _mixture(setting: Setting) -> TaskMixture:
    source = registry.source_blocks()[setting.source]
    return source.make_spec(setting.name, setting.block)


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


def run_files(config: Config, what: str, protocol: str, setting: str) -> list[str]:
    """Of all training jobs of a setting: `what` is runs or parameters."""
    chosen = config.settings[setting]
    return [
        f"data/{protocol}/{what}/{setting}/n{n}/seeds{first}-{last}.parquet"
        for n in chosen.n
        for first, last in seed_blocks(config.protocols[protocol], chosen)
    ]


def train_modules(setting: Setting) -> list[str]:
    """The modules that a setting's training loads by name."""
    found = {f"sources.{setting.source}.contexts"}
    for curve in setting.curves:
        engine = registry.engine_of(setting.source, curve.model.view)
        found |= {f"models.{curve.module}", f"engines.{engine}"}
    return sorted(found)


def source_files(setting: Setting) -> list[str]:
    """Files that its contexts are drawn from."""
    files = getattr(registry.source_blocks()[setting.source], "files", None)
    return files(setting.block) if files else []


def mixtures(config: Config) -> list[str]:
    """The settings whose spec the config alone makes."""
    return [
        name
        for name, made in config.settings.items()
        if hasattr(registry.source_blocks()[made.source], "make_spec")
    ]


def folds(config: Config) -> dict[str, Setting]:
    """The settings that are folds of a table."""
    return {name: made for name, made in config.settings.items() if "fold" in made.block}


def fold_block(setting: Setting) -> str:
    """All that a fold's spec is made from besides the table. Of n only the longest counts: units
    are the same at every n."""
    return canonical_json({"longest": max(setting.n), "block": dict(setting.block)})


def folded(config: Config) -> list[str]:
    """The settings that have folds."""
    return [name for name, made in config.settings.items() if made.parts]


def model_modules(setting: Setting) -> list[str]:
    return sorted({f"models.{curve.module}" for curve in setting.curves})


def fold_names(config: Config, setting: str) -> list[str]:
    return list(config.settings[setting].parts)


def predictors(setting: Setting) -> str:
    """What is trained, as the script that tests it takes it."""
    return canonical_json(
        [
            {"module": curve.module, "model": curve.name, "layers": curve.layers, "arm": curve.arm}
            for curve in setting.curves
        ]
    )


def bounded(setting: Setting) -> list[Curve]:
    """Trained curves without a theorem, which are held to what they contain."""
    return [curve for curve in setting.curves if not curve.model.exact()]


def relatives(config: Config, setting: str) -> list[str]:
    """The settings with its mixture whose curves it is compared with, itself among them. What
    figures make of settings is computed, not trained, and not among them."""
    return sorted({setting, *(curve.setting for curve in _members(config, setting))})


def _is_below(curve: Curve, other: Curve) -> bool:
    """Whether it is the same of a smaller size, and a case of it."""
    same = (curve.name, curve.arm) == (other.name, other.arm)
    return same and ARMS[other.arm].weights and other.made.contains(curve.made) is not None


@cache
def _fingerprint(setting: Setting) -> str:
    return _mixture(setting).fingerprint


@cache
def _members(config: Config, setting: str) -> list[Curve]:
    """A setting's bounded curves and what they are compared with, one of a kind: its own first."""
    chosen = config.settings[setting]
    own = bounded(chosen)
    names = dict.fromkeys([setting, *(curve.setting for curve in scored_curves(config))])
    alike = [
        name
        for name in names
        if config.settings[name].source == chosen.source
        and _fingerprint(config.settings[name]) == _fingerprint(chosen)
    ]
    below: dict[tuple, Curve] = {}
    for name in alike:
        for curve in config.settings[name].curves:
            if any(_is_below(curve, other) for other in own):
                below.setdefault((curve.name, curve.layers, curve.sizes, curve.arm), curve)
    return list(dict.fromkeys([*own, *below.values()]))


def members(config: Config, setting: str) -> str:
    """What is evaluated together, as the script takes it."""
    return canonical_json([_member(curve) for curve in _members(config, setting)])


def prompted(setting: Setting) -> str:
    """The curves whose prompt's share of attention can be measured, as the script takes them."""
    return canonical_json([_member(curve) for curve in PromptShare.drawn(setting)])


def _member(curve: Curve) -> dict[str, Any]:
    return {
        "setting": curve.setting,
        "module": curve.module,
        "model": curve.name,
        "layers": curve.layers,
        "arm": curve.arm,
        "parts": asdict(ARMS[curve.arm]),
        "sizes": curve.sizes,
    }


def bounds_modules(config: Config, setting: str) -> list[str]:
    found = {f"sources.{config.settings[setting].source}.contexts"}
    for curve in _members(config, setting):
        found |= {f"models.{curve.module}", f"engines.{curve.model.view}"}
    return sorted(found)


def bounds_mem_mb(setting: Setting) -> int:
    """What grows with d: several copies of a chunk of Gram matrices."""
    dim, _ = registry.source_blocks()[setting.source].shape(setting.block)
    return 1500 + round(6 * 4 * HELD_OUT * (dim + 1) ** 2 / 1e6)


def test_contexts(protocol: Protocol, setting: Setting) -> int:
    return max(protocol.run(curve).recipe.test_contexts for curve in bounded(setting))


def bounded_settings(config: Config) -> list[str]:
    """Of the scoreboard, those whose curves have bounds."""
    return sorted({c.setting for c in scored_curves(config) if bounded(config.settings[c.setting])})


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


def _contexts(run: Run, curve: Curve) -> float:
    """How many contexts training goes through at most; seeds may share them."""
    if run.recipe.gradient == "exact":
        return 0
    shared = run.recipe.contexts
    return shared if curve.model.exact() else shared * run.seeds


def scored_curves(config: Config, with_references: bool = False) -> list[Curve]:
    """The trained curves of the scoreboard; or only those that have references."""
    return [c for _, c in config.scored if c.model.references or not with_references]


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


def scored_settings(config: Config, with_references: bool = False) -> list[str]:
    """Of the scoreboard; or only those whose curves have computed ones to compare with."""
    return sorted({curve.setting for curve in scored_curves(config, with_references)})


def page_settings(config: Config) -> dict[str, Sequence[str]]:
    """The settings that each page of panels shows."""
    pages = {name: f for name, f in config.figures.items() if "panels" in f.block}
    return {name: list(page.needs(config).specs) for name, page in pages.items()}


def explored_settings(config: Config) -> list[str]:
    """The config's own settings of linear attention that the explorer can show; what figures vary
    has a dot."""
    linear = [
        name
        for name, setting in config.settings.items()
        if any(curve.model.exact() or curve.name == "attention" for curve in setting.curves)
    ]
    return [
        name
        for name in linear
        if "." not in name
        and config.settings[name].source == SOURCE
        and controls(_mixture(config.settings[name]))
    ]


def explorer_presets(config: Config) -> list[dict[str, Any]]:
    """A preset for every depth of attention in them."""
    found = []
    for name in explored_settings(config):
        setting = config.settings[name]
        figure = config.figures.get(name)
        depths = sorted({c.layers for c in setting.curves if c.name == "attention"}) or [1]
        found += [
            {
                "name": name if len(depths) == 1 else f"{name}.{layers}",
                "title": figure.block.get("title", "") if figure else "",
                "setting": name,
                "layers": layers,
                "n": setting.n,
            }
            for layers in depths
        ]
    return found
