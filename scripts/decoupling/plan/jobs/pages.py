"""What is on the scoreboard, on pages of panels, and in the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import sources
from ...problem.family import controls
from ..config import Config, Curve
from .specs import mixture


def scored_curves(config: Config, with_references: bool = False) -> list[Curve]:
    """The trained curves of the scoreboard; or only those that have references."""
    return [c for _, c in config.scored if c.model_class.references or not with_references]


def scored_settings(config: Config, with_references: bool = False) -> list[str]:
    """Of the scoreboard; or only those whose curves have computed ones to compare with."""
    return sorted({curve.setting for curve in scored_curves(config, with_references)})


def scoreboard_rows(config: Config) -> list[dict[str, Any]]:
    """The rows of the scoreboard, each with what it is compared with."""
    return [
        {
            "panel": panel,
            **curve.point,
            "references": list(curve.model_class.references),
        }
        for panel, curve in config.scored
    ]


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
