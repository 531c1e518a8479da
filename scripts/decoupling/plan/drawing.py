"""The text that a figure's job gets: what to draw, the references that its best seeds must reach,
and the part of its provenance that the config knows (`figures.provenance` adds the rest)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..config import Config
from ..config.settings import KEYS, Setting
from ..figures import Figure
from ..models.curve import Curve
from ..problem.family import controls
from .comparisons import members
from .jobs import canonical_json, figure_files, mixture


def told(config: Config, name: str) -> str:
    """The text, in JSON. It counts files instead of naming them, as a storage provider can keep
    them elsewhere."""
    figure = config.figures[name]
    parts = {
        "plot_spec": figure.plot_spec(config),
        "note": figure.note(config),
        "counts": {table: len(files) for table, files in figure_files(config, name).items()},
        "held_to": held_to(figure, config),
        "about": about(figure, config),
    }
    return json.dumps(parts, ensure_ascii=False)


def held_to(figure: Figure, config: Config) -> dict[str, Any]:
    """`optimum`: by model, the computed curve that no seed can be below; models without a theorem
    have none. `bounds`: drawn curves that another drawn curve contains. `remedies`: what to change
    in the config if a seed is above the optimum, or above a bound."""
    curves = list(dict.fromkeys(figure.curves(config)))
    known = [curve for curve in curves if curve.model_class.has_theorem()]
    others = [curve for curve in curves if not curve.model_class.has_theorem()]
    more, further = "try more iterations or seeds in ", "standard_units, means_warmup and a cosine"
    return {
        "optimum": {
            curve.model: "optimum" if "optimum" in curve.model_class.references else "theorem"
            for curve in known
        },
        "bounds": [
            {"curve": _name(curve), "other": _name(other), "bound": bound}
            for curve in others
            for other in members(config, curve.setting)
            if other in curves and (bound := curve.includes(other))
        ],
        "remedies": {
            "optimum": f"{more}{_recipes(known, config)}, or {further}",
            "bound": f"{more}{_recipes(others, config)}",
        },
    }


def _name(curve: Curve) -> str:
    return " ".join(map(str, curve.point.values()))


def _recipes(curves: Iterable[Curve], config: Config) -> str:
    names = sorted({config.protocol.recipe_of(curve) for curve in curves})
    return " and ".join(f"protocols.{config.protocol.name}.{name}" for name in names)


def about(figure: Figure, config: Config) -> dict[str, Any]:
    """The settings and recipes of a figure, with the defaults filled in."""
    recipes: dict[str, dict[str, Any]] = {}
    named = {name for names in figure.needs(config).values() for name in names}
    for curve in dict.fromkeys(figure.curves(config)):
        run = config.protocol.run(curve)
        recipe = {"seeds": run.seeds, **asdict(run.recipe)}
        used = recipes.setdefault(canonical_json(recipe), {"curves": [], **recipe})
        used["curves"].append(_name(curve))
        named.add(curve.setting)
    made = [config.settings[name] for name in sorted(named) if name in config.settings]
    results = "archived" if config.results == "archive" else "trained"
    return {
        "kind": figure.kind,
        "protocol": config.protocol.name,
        "results": results if recipes else "computed",
        "settings": {setting.name: _as_used(setting) for setting in made},
        "recipes": list(recipes.values()),
    }


def _as_used(setting: Setting) -> dict[str, Any]:
    """A setting's keys with the defaults filled in. Its numbers are the spec's, in short form if
    there is one: the way the config writes them redraws nothing."""
    found = {key: getattr(setting, key) for key in KEYS} | dict(setting.sizes)
    if not setting.has_mixture:
        return found | dict(setting.block)
    short = controls(mixture(setting))
    return found | (short or {"spec": f"data/specs/{setting.name}.json"})


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
