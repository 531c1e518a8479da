"""The config as objects, with every default filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .protocols import Protocol
from .settings import Setting


@dataclass(frozen=True, eq=False)
class Config:
    """The whole config. `settings` includes derived ones; every setting has a figure."""

    protocol: Protocol  # the active one
    protocols: Mapping[str, Protocol]
    settings: Mapping[str, Setting]
    figures: Mapping[str, Any]  # of class `figures.Figure`, whose package imports this one
    published: Collection[tuple[str, str]] = field(default=())  # (setting, arm) with known risks
