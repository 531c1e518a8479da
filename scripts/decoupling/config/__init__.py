"""The config as objects, with every default filled in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..models.curve import Curve
from ..sources.table import owning_setting
from .archive import Archive
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
    results: str = "train"  # or "archive": the results that figures are drawn from
    archive: Archive = field(default_factory=Archive)

    @property
    def root(self) -> str:
        """The folder of results that figures are drawn from."""
        return "data/archived" if self.results == "archive" else "data"

    def note(self, curves: Iterable[Curve], protocol: Protocol | None = None) -> str:
        """The small print of these curves, by the active protocol unless another is given."""
        curves, protocol = list(curves), protocol or self.protocol
        note = protocol.note(curves)
        if self.results != "archive":
            return note
        owners = {owning_setting(curve.setting) for curve in curves}
        made_by = self.archive.made_by(protocol.name, owners)
        return f"Archived results{f' ({made_by})' if made_by else ''}. {note}"
