"""What best seeds are held to when a figure is drawn, and what to do where they are above it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..config import Config
from ..figures import Figure
from ..models.curve import Curve
from .comparisons import members


def of_figure(figure: Figure, config: Config) -> dict[str, Any]:
    """What its job is told."""
    parts = {"optimum": optimum, "bounds": bounds, "remedies": remedies}
    return {key: part(figure, config) for key, part in parts.items()}


def optimum(figure: Figure, config: Config) -> dict[str, str]:
    """The computed curve that no seed of a model can be below, by model, where there is one."""
    known = [curve for curve in figure.curves(config) if curve.model_class.has_theorem()]
    return {
        curve.model: "optimum" if "optimum" in curve.model_class.references else "theorem"
        for curve in known
    }


def bounds(figure: Figure, config: Config) -> list[dict[str, str]]:
    """For drawn curves without a theorem, those drawn beside them that they contain."""
    drawn = dict.fromkeys(figure.curves(config))
    found = []
    for curve in drawn:
        if curve.model_class.has_theorem():
            continue
        beside = [other for other in members(config, curve.setting) if other in drawn]
        found += [
            {"curve": name(curve), "other": name(other), "bound": bound}
            for other in beside
            if (bound := curve.includes(other))
        ]
    return found


def name(curve: Curve) -> str:
    return " ".join(map(str, curve.point.values()))


def remedies(figure: Figure, config: Config) -> dict[str, str]:
    """In the config's words: above an optimum, and above a bound."""
    curves = figure.curves(config)
    known = [curve for curve in curves if curve.model_class.has_theorem()]
    others = [curve for curve in curves if not curve.model_class.has_theorem()]
    more = "try more iterations or seeds in "
    further = ", or standard_units, means_warmup and a cosine"
    return {
        "optimum": more + _recipes(known, config) + further,
        "bound": more + _recipes(others, config),
    }


def _recipes(curves: Iterable[Curve], config: Config) -> str:
    names = sorted({config.protocol.recipe_of(curve) for curve in curves})
    return " and ".join(f"protocols.{config.protocol.name}.{name}" for name in names)
