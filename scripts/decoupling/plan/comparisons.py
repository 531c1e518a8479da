"""Comparisons of trained curves: on the scoreboard, with bounds and optima, in the explorer."""

from __future__ import annotations

from functools import cache
from typing import Any

from .. import sources
from ..config import Config
from ..config.protocols import Protocol
from ..config.settings import Setting
from ..engines.base import grams_at_a_time
from ..models.curve import Curve
from ..problem.family import controls
from .jobs import curve_modules, fingerprint, mixture


@cache
def scored(config: Config) -> list[tuple[str, Curve]]:
    """Trained curves on the scoreboard, each with its figure."""
    return [
        (name if curve.setting in figure.setting_names else curve.setting, curve)
        for name, figure in config.figures.items()
        for curve in dict.fromkeys(figure.scored(config))
    ]


def scored_curves(config: Config, with_references: bool = False) -> list[Curve]:
    """Trained curves on the scoreboard, or only those with references."""
    return [c for _, c in scored(config) if c.model_class.references or not with_references]


def scored_settings(config: Config, with_references: bool = False) -> list[str]:
    """Settings on the scoreboard, or only those with computed references."""
    return sorted({curve.setting for curve in scored_curves(config, with_references)})


def scoreboard_rows(config: Config) -> list[dict[str, Any]]:
    """Rows of the scoreboard, each with its references."""
    return [
        {
            "panel": panel,
            **curve.point,
            "references": list(curve.model_class.references),
        }
        for panel, curve in scored(config)
    ]


def page_settings(config: Config) -> list[str]:
    """The settings that pages of panels show."""
    pages = [figure for figure in config.figures.values() if "panels" in figure.block]
    return sorted({name for page in pages for name in page.needs(config)["specs"]})


def explored_settings(config: Config) -> list[str]:
    """The config's settings of linear attention that the explorer can show. Derived settings, whose
    names have a dot, are not among them."""
    linear = [
        name
        for name, setting in config.settings.items()
        if any(curve.model_class.exact() or curve.model == "attention" for curve in setting.curves)
    ]
    return [
        name
        for name in linear
        if "." not in name
        and config.settings[name].source == sources.DEFAULT
        and controls(mixture(config.settings[name]))
    ]


def explorer_presets(config: Config) -> list[dict[str, Any]]:
    """A preset for every depth of attention in the explored settings."""
    found = []
    for name in explored_settings(config):
        setting = config.settings[name]
        depths = sorted({c.layers for c in setting.curves if c.model == "attention"}) or [1]
        found += [
            {
                "name": name if len(depths) == 1 else f"{name}.{layers}",
                "setting": name,
                "layers": layers,
                "n": setting.n,
            }
            for layers in depths
        ]
    return found


def bounded(setting: Setting) -> list[Curve]:
    """Trained curves without a theorem, which have bounds."""
    return [curve for curve in setting.curves if not curve.model_class.has_theorem()]


def relatives(config: Config, setting: str) -> list[str]:
    """The settings with the same mixture, itself included, whose curves can be its bounds. Derived
    settings count if they are on the scoreboard."""
    return sorted({setting, *(curve.setting for curve in members(config, setting))})


@cache
def members(config: Config, setting: str) -> list[Curve]:
    """Curves that are evaluated together: a setting's bounded curves, then their bounds, one of
    each kind."""
    chosen = config.settings[setting]
    own = bounded(chosen)
    names = dict.fromkeys([setting, *(curve.setting for curve in scored_curves(config))])
    alike = [
        name
        for name in names
        if config.settings[name].source == chosen.source
        and fingerprint(config.settings[name]) == fingerprint(chosen)
    ]
    below: dict[tuple, Curve] = {}
    for name in alike:
        for curve in config.settings[name].curves:
            if any(other.includes_smaller(curve) for other in own):
                below.setdefault((curve.model, curve.layers, curve.sizes, curve.arm), curve)
    return list(dict.fromkeys([*own, *below.values()]))


def modules(config: Config, setting: str) -> list[str]:
    """Modules that the evaluation of bounds loads by name."""
    return curve_modules(config.settings[setting].source, members(config, setting))


def mem_mb(setting: Setting) -> int:
    """Memory: several copies of a chunk of Gram matrices, which grow with d."""
    dim, _ = setting.shape
    return 1500 + round(6 * 4 * grams_at_a_time(dim) * (dim + 1) ** 2 / 1e6)


def test_contexts(protocol: Protocol, setting: Setting) -> int:
    return max(protocol.run(curve).recipe.test_contexts for curve in bounded(setting))


def bounded_settings(config: Config) -> list[str]:
    """Settings on the scoreboard with bounded curves."""
    return sorted({c.setting for c in scored_curves(config) if bounded(config.settings[c.setting])})
