"""Several panels on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..draw.panels import draw_panels
from . import Figure, Needs, Problem, Tables, names
from .panel import Panel, panel_needs

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

    from ..config import Config
    from ..models.curve import Curve


class Page(Figure):
    properties: ClassVar = {"panels": names("Names of the panels on a page")}
    required = ("panels",)
    label = "all panels"
    bases = ()

    def problems(self, config: Config) -> Iterator[Problem]:
        for i, name in enumerate(self.block["panels"]):
            if not isinstance(config.figures.get(name), Panel):
                fix = "name a setting or a one-panel figure"
                yield f"panels[{i}]", f"there is no panel {name!r}; {fix}"

    def _panels(self, config: Config) -> list[Figure]:
        return [config.figures[name] for name in self.block["panels"]]

    def needs(self, config: Config) -> Needs:
        return panel_needs(self.drawing(config)["panels"])

    def drawing(self, config: Config) -> dict[str, Any]:
        return {"panels": [p for f in self._panels(config) for p in f.drawing(config)["panels"]]}

    def curves(self, config: Config) -> list[Curve]:
        return [curve for figure in self._panels(config) for curve in figure.curves(config)]

    @staticmethod
    def draw(drawing: Mapping[str, Any], tables: Tables, note: str) -> Drawn:
        return draw_panels(drawing["panels"], tables, note)


KIND = Page
