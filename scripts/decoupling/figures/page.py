"""Several panels on a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from . import Problem, names
from .panel import Panel, Panels

if TYPE_CHECKING:
    from .hints import Config


class Page(Panels):
    properties: ClassVar = {"panels": names("Names of the panels on a page")}
    required = ("panels",)
    label = "all panels"
    setting_names = ()

    def problems(self, config: Config) -> Iterator[Problem]:
        for i, name in enumerate(self.block["panels"]):
            if not isinstance(config.figures.get(name), Panel):
                fix = "name a setting or a one-panel figure"
                yield f"panels[{i}]", f"there is no panel {name!r}; {fix}"

    def panels(self, config: Config) -> list[dict[str, Any]]:
        return [p for name in self.block["panels"] for p in config.figures[name].panels(config)]


KIND = Page
