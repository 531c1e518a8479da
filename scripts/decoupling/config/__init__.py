"""What a config says, as objects, with every default filled in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .protocols import Protocol
from .settings import Setting


@dataclass(frozen=True, eq=False)
class Config:
    """All of it. `settings` has those that figures vary too; `figures` one for every setting."""

    protocol: Protocol  # the active one
    protocols: Mapping[str, Protocol]
    settings: Mapping[str, Setting]
    figures: Mapping[str, Any]  # each a `figures.Figure`, of a package that imports this one
    published: Collection[tuple[str, str]] = field(default=())  # (setting, arm) with known risks
