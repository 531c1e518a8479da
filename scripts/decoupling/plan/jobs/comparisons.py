"""What trained models are compared with where no theorem is: bounds, and shares of attention."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from ...engines.base import HELD_OUT
from ...figures.prompt_share import PromptShare
from ...models.arms import ARMS
from .. import registry
from ..config import Config, Curve, Protocol, Setting
from .pages import scored_curves
from .specs import canonical_json, fingerprint


def bounded(setting: Setting) -> list[Curve]:
    """Trained curves without a theorem, which are held to what they contain."""
    return [curve for curve in setting.curves if not curve.model.has_theorem()]


def relatives(config: Config, setting: str) -> list[str]:
    """The settings with its mixture whose curves it is compared with, itself among them. Of
    what figures make of settings, only what is on the scoreboard is among them."""
    return sorted({setting, *(curve.setting for curve in _members(config, setting))})


def _is_below(curve: Curve, other: Curve) -> bool:
    """Whether it is the same of a smaller size, and a case of it."""
    same = (curve.name, curve.arm) == (other.name, other.arm)
    return same and ARMS[other.arm].weights and other.made.contains(curve.made) is not None


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
        and fingerprint(config.settings[name]) == fingerprint(chosen)
    ]
    below: dict[tuple, Curve] = {}
    for name in alike:
        for curve in config.settings[name].curves:
            if any(_is_below(curve, other) for other in own):
                below.setdefault((curve.name, curve.layers, curve.sizes, curve.arm), curve)
    return list(dict.fromkeys([*own, *below.values()]))


def members(config: Config, setting: str) -> str:
    """What is evaluated together, as the script takes it."""
    return canonical_json([member(curve) for curve in _members(config, setting)])


def prompted(setting: Setting) -> str:
    """The curves whose prompt's share of attention can be measured, as the script takes them."""
    return canonical_json([member(curve) for curve in PromptShare.drawn(setting)])


def member(curve: Curve) -> dict[str, Any]:
    """What is trained, as scripts that evaluate it take it."""
    return {
        "setting": curve.setting,
        "module": curve.module,
        "model": curve.name,
        "layers": curve.layers,
        "arm": curve.arm,
        "parts": asdict(ARMS[curve.arm]),
        "sizes": curve.sizes,
    }


def modules(config: Config, setting: str) -> list[str]:
    source = config.settings[setting].source
    found = {f"sources.{source}.contexts"}
    for curve in _members(config, setting):
        found |= {f"models.{curve.module}", f"engines.{curve.model.engine}"}
    return sorted(found)


def mem_mb(setting: Setting) -> int:
    """What grows with d: several copies of a chunk of Gram matrices."""
    dim, _ = registry.source_blocks()[setting.source].shape(setting.block)
    return 1500 + round(6 * 4 * HELD_OUT * (dim + 1) ** 2 / 1e6)


def test_contexts(protocol: Protocol, setting: Setting) -> int:
    return max(protocol.run(curve).recipe.test_contexts for curve in bounded(setting))


def bounded_settings(config: Config) -> list[str]:
    """Of the scoreboard, those whose curves have bounds."""
    return sorted({c.setting for c in scored_curves(config) if bounded(config.settings[c.setting])})
