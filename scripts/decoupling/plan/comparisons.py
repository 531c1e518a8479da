"""What trained curves are compared with: on the scoreboard, by bounds, and in the explorer."""

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
    """The trained curves of the scoreboard, each with the figure it is on."""
    return [
        (name if curve.setting in figure.bases else curve.setting, curve)
        for name, figure in config.figures.items()
        for curve in dict.fromkeys(figure.scored(config))
    ]


def scored_curves(config: Config, with_references: bool = False) -> list[Curve]:
    """The trained curves of the scoreboard; or only those that have references."""
    return [c for _, c in scored(config) if c.model_class.references or not with_references]


def scored_settings(config: Config, with_references: bool = False) -> list[str]:
    """The scoreboard's settings; or only those whose curves have computed references."""
    return sorted({curve.setting for curve in scored_curves(config, with_references)})


def scoreboard_rows(config: Config) -> list[dict[str, Any]]:
    """The rows of the scoreboard, each with what it is compared with."""
    return [
        {
            "panel": panel,
            **curve.point,
            "references": list(curve.model_class.references),
        }
        for panel, curve in scored(config)
    ]


def page_settings(config: Config) -> dict[str, list[str]]:
    """The settings that each page of panels shows."""
    pages = {name: f for name, f in config.figures.items() if "panels" in f.block}
    return {name: page.needs(config)["specs"] for name, page in pages.items()}


def explored_settings(config: Config) -> list[str]:
    """The config's own settings of linear attention that the explorer can show; what figures vary
    has a dot."""
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
    """A preset for every depth of attention in them."""
    found = []
    for name in explored_settings(config):
        setting = config.settings[name]
        figure = config.figures.get(name)
        depths = sorted({c.layers for c in setting.curves if c.model == "attention"}) or [1]
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


def bounded(setting: Setting) -> list[Curve]:
    """Trained curves without a theorem, which are held to what they contain."""
    return [curve for curve in setting.curves if not curve.model_class.has_theorem()]


def relatives(config: Config, setting: str) -> list[str]:
    """The settings with its mixture whose curves it is compared with, itself among them. Of
    what figures make of settings, only what is on the scoreboard is among them."""
    return sorted({setting, *(curve.setting for curve in members(config, setting))})


@cache
def members(config: Config, setting: str) -> list[Curve]:
    """What is evaluated together: a setting's bounded curves and what they are compared with, one
    of a kind, its own first."""
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
    """What their evaluation loads by name."""
    return curve_modules(config.settings[setting].source, members(config, setting))


def mem_mb(setting: Setting) -> int:
    """What grows with d: several copies of a chunk of Gram matrices."""
    dim, _ = setting.shape
    return 1500 + round(6 * 4 * grams_at_a_time(dim) * (dim + 1) ** 2 / 1e6)


def test_contexts(protocol: Protocol, setting: Setting) -> int:
    return max(protocol.run(curve).recipe.test_contexts for curve in bounded(setting))


def bounded_settings(config: Config) -> list[str]:
    """The scoreboard's settings whose curves have bounds."""
    return sorted({c.setting for c in scored_curves(config) if bounded(config.settings[c.setting])})
