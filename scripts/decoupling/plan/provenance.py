"""The part of a figure's provenance that the config knows; its job adds the rest
(`figures.provenance`)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import sources
from ..config import Config
from ..config.settings import KEYS, Setting
from ..models.curve import Curve
from ..problem.family import controls
from .jobs import canonical_json, mixture


def of_figure(config: Config, figure: str) -> str:
    """A figure's settings and recipes, as they are used."""
    drawn = config.figures[figure]
    curves = drawn.curves(config)
    named = {name for names in drawn.needs(config).values() for name in names}
    return of_curves(config, named, curves, drawn.kind)


def of_curves(config: Config, settings: Iterable[str], curves: Iterable[Curve], kind: str) -> str:
    """The same for these settings and curves."""
    recipes: dict[str, dict[str, Any]] = {}
    named = set(settings)
    for curve in dict.fromkeys(curves):
        run = config.protocol.run(curve)
        recipe = {"seeds": run.seeds, **asdict(run.recipe)}
        used = recipes.setdefault(canonical_json(recipe), {"curves": [], **recipe})
        used["curves"].append(" ".join(map(str, curve.point.values())))
        named.add(curve.setting)
    made = [config.settings[name] for name in sorted(named) if name in config.settings]
    record = {
        "kind": kind,
        "protocol": config.protocol.name,
        "results": _results(config) if recipes else "computed",
        "settings": {setting.name: _as_used(setting) for setting in made},
        "recipes": list(recipes.values()),
    }
    return json.dumps(record, ensure_ascii=False)


def _results(config: Config) -> str:
    return "archived" if config.results == "archive" else "trained"


def _as_used(setting: Setting) -> dict[str, Any]:
    """A setting's keys with the defaults filled in. Its numbers are the spec's, in short form if
    there is one: the way the config writes them redraws nothing."""
    found = {key: getattr(setting, key) for key in KEYS} | dict(setting.sizes)
    if not hasattr(sources.blocks()[setting.source], "make_spec"):
        return found | dict(setting.block)
    short = controls(mixture(setting))
    return found | (asdict(short) if short else {"spec": f"data/specs/{setting.name}.json"})


def command(snakefile: Path, configfiles: Iterable[Path], config: Mapping[str, Any]) -> str:
    """Snakemake's command line without targets, from the folder with the results."""
    words = ["snakemake"]
    found = Path(os.path.relpath(snakefile))
    if found != Path("Snakefile"):
        words += ["--snakefile", str(found)]
    if files := [os.path.relpath(file) for file in configfiles]:
        words += ["--configfile", *files]
    if config:
        words += ["--config", *(f"{key}={_argument(value)}" for key, value in config.items())]
    return shlex.join(words)


def _argument(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
