"""Kinds of figures, a module each, with its class under the name KIND.

A kind defines the keys of its block in the config, their checks, the tables that it needs, and its
drawing. No other file lists the kinds. A figure's job loads only the modules that draw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from .. import discover

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

    from ..config import Config
    from ..config.settings import Setting
    from ..models.curve import Curve

Tables = Mapping[str, Any]  # by name, empty if not needed; `specs` has mixtures by setting
Problem = tuple[str, str]  # key of the figure's block, and a text with the fix

# JSON schemas of keys of several kinds
LENGTHS = {"$ref": "#/$defs/context_lengths"}
ARMS = {"$ref": "#/$defs/arms"}
BAYES = {
    "description": "Whether the Bayes-optimal predictor is drawn; false is the default",
    "type": "boolean",
}


def text(description: str) -> dict[str, Any]:
    return {"description": description, "type": "string"}


def several(description: str, kind: str, **limits: float) -> dict[str, Any]:
    array = {"type": "array", "minItems": 1, "uniqueItems": True}
    return {"description": description, **array, "items": {"type": kind, **limits}}


def names(description: str) -> dict[str, Any]:
    return several(description, "string")


@dataclass(frozen=True)
class Figure:
    """A figure of the config. The workflow uses everything but `draw` when it starts."""

    properties: ClassVar[dict[str, Any]]  # JSON schemas of its keys
    required: ClassVar[tuple[str, ...]] = ()
    computed: ClassVar[str] = "Computed, not trained"  # small print if nothing is trained
    label: ClassVar[str] = ""  # default title in the report's list
    subject: ClassVar[str] = "settings of a mixture"  # what it draws, for error messages
    may_share_name: ClassVar[bool] = False  # whether it can be the figure of a setting's own name

    name: str
    block: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.block.get("kind", "panel")

    @property
    def report_label(self) -> str:
        """The figure's line in the report's list."""
        title = self.block.get("title", self.label)
        return f"{self.name}: {title}" if title else self.name

    @property
    def setting_names(self) -> list[str]:
        """Settings of the config that it names."""
        return self.block.get("settings") or [self.block.get("setting", self.name)]

    @classmethod
    def can_draw(cls, setting: Setting) -> bool:
        """Whether the kind draws a setting: most need one with a mixture in the config."""
        return not setting.folds

    def problems(self, config: Config) -> Iterator[Problem]:
        """Problems beyond the schema, if all settings that it names exist."""
        yield from ()

    def arm_problems(self, setting: Setting) -> Iterator[Problem]:
        """Problems of the key `arms`, or a model that supports none of the setting's arms."""
        path = f"settings.{setting.name}"
        for arm in self.block.get("arms", ()):
            if arm not in setting.arms:
                yield "arms", f"{arm} is not trained in {path}; add it to {path}.arms"
            elif reason := setting.unsupported(arm):
                yield "arms", f"the {setting.model} model {reason}; remove {arm}"
        if all(setting.unsupported(arm) for arm in setting.arms):
            key = "settings" if "settings" in self.block else "setting"
            yield key, f"the {setting.model} model has none of the arms of {path}; add one"

    def derived(self, settings: Mapping[str, Setting]) -> list[Setting]:
        """Settings that the figure derives from the config's. Their names have a dot, which names
        in the config cannot have."""
        return []

    def needs(self, config: Config) -> dict[str, list[str]]:
        """The settings that it is drawn from, by table. Tables are those of `tables.FIGURE_TABLES`,
        `specs`, and `published`, the authors' risks."""
        raise NotImplementedError

    def plot_spec(self, config: Config) -> dict[str, Any]:
        """Arguments of `draw` besides tables and note, for JSON."""
        return {}

    def curves(self, config: Config) -> list[Curve]:
        """Trained curves that it shows."""
        return []

    def note(self, config: Config) -> str:
        """The small print."""
        curves = self.curves(config)
        return config.note(curves) if curves else self.computed

    def scored(self, config: Config) -> list[Curve]:
        """Curves that the scoreboard lists under the figure's name."""
        return []

    def scored_once(self, config: Config) -> list[Curve]:
        """`scored` of a kind whose curves are scored once, on the setting's own figure."""
        return self.curves(config) if self.setting_names == [self.name] else []

    @staticmethod
    def draw(plot_spec: Mapping[str, Any], tables: Tables, note: str) -> MplFigure:
        raise NotImplementedError


class Columns(Figure):
    """A figure of computed curves with a column per setting, at its own context lengths."""

    table: ClassVar[str]  # the table that it is drawn from
    required = ("settings", "n")

    @property
    def variants(self) -> list[tuple[str, str]]:
        """Settings, and the names of those derived from them."""
        return [(base, f"{self.name}.{base}") for base in self.block["settings"]]

    def derived(self, settings: Mapping[str, Setting]) -> list[Setting]:
        return [settings[b].derive(name, self.block["n"]) for b, name in self.variants]

    def needs(self, config: Config) -> dict[str, list[str]]:
        names = [name for _, name in self.variants]
        return {"specs": names, self.table: names}

    def plot_spec(self, config: Config) -> dict[str, Any]:
        return {"columns": self.variants}


@cache
def kinds() -> dict[str, type[Figure]]:
    return discover.members(__name__, "KIND")


def load(kind: str) -> type[Figure]:
    return import_module(f"{__name__}.{kind}").KIND
