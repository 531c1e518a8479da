"""Data of the explorer's page: looks of arms, and the config's settings with their known risks.

The page computes the closed forms itself (explorer/theory.js).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..models.arms import ARMS
from ..problem.family import MOST_DIM, MOST_TASKS, controls
from ..problem.mixture import TaskMixture
from ..theory.theorems import CLOSED_FORMS, THEOREMS

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)

SYMBOLS = {  # Plotly's names of Matplotlib's filled markers
    "o": "circle",
    "h": "hexagon",
    "H": "hexagon2",
    "p": "pentagon",
    "8": "octagon",
    "*": "star",
    "s": "square",
    "D": "diamond",
    "d": "diamond-tall",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "P": "cross",
    "X": "x",
}
MODEL = "attention"  # the model of trained and published risks
SAME_POWER = 1e-9  # relative


def page_data(
    presets: Iterable[Mapping[str, Any]],
    specs: Mapping[str, TaskMixture],
    archived: pd.DataFrame,
    published: pd.DataFrame,
    bayes: pd.DataFrame,
) -> dict[str, Any]:
    """The data. A preset has a `name`, its `setting`, `layers` and `n`."""
    return {
        "arms": {
            name: {
                "colour": arm.colour,
                "symbol": SYMBOLS[arm.marker],
                "path": svg_path(arm.marker),
                "label": arm.label,
            }
            for name, arm in ARMS.items()
        },
        "theorems": list(THEOREMS),
        "closed_forms": {reference: list(forms) for reference, forms in CLOSED_FORMS.items()},
        "limits": {"d": MOST_DIM, "tasks": MOST_TASKS},
        "presets": [
            _preset(preset, specs[preset["setting"]], archived, published, bayes)
            for preset in presets
        ],
    }


def svg_path(marker: str) -> str:
    """Matplotlib's marker as an SVG path around the origin, y downwards."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.path import Path

    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
    style = MarkerStyle(marker)
    segments = style.get_path().transformed(style.get_transform()).iter_segments()
    return " ".join(
        "Z"
        if code == Path.CLOSEPOLY
        else letters[code]
        + ",".join(f"{value:.4g}" for value in points * np.tile([1, -1], len(points) // 2))
        for points, code in segments
    )


def _preset(
    preset: Mapping[str, Any],
    mix: TaskMixture,
    archived: pd.DataFrame,
    published: pd.DataFrame,
    bayes: pd.DataFrame,
) -> dict[str, Any]:
    found = controls(mix)
    if found is None:
        raise ValueError(f"settings.{mix.name}: the explorer's controls cannot describe it")

    def of_setting(table: pd.DataFrame) -> pd.DataFrame:
        return table[table.setting == mix.name].sort_values("n")

    def of_curves(table: pd.DataFrame) -> pd.DataFrame:
        return table[(table.model == MODEL) & (table.layers == preset["layers"])]

    trained, authors = of_setting(archived), of_setting(published)
    if not _is_of(trained, mix):
        log.warning("%s: archived risks belong to another mixture, and are left out", mix.name)
        trained, authors = trained[:0], authors[:0]
    return {
        "name": preset["name"],
        "layers": preset["layers"],
        "n": sorted(preset["n"]),
        **found,
        "trained": _points(of_curves(trained), "arm", "n", "risk", "risk_se"),
        "published": _points(of_curves(authors), "arm", "n", "risk"),
        "bayes": _points(of_setting(bayes), "n", "risk", "risk_se"),
    }


def _is_of(archived: pd.DataFrame, mix: TaskMixture) -> bool:
    """Whether archived risks can belong to this mixture. They are found by the setting's name; if
    its numbers have changed, E[y²] differs."""
    power = archived.risk / archived.normalized
    return bool((abs(power / mix.label_power - 1) < SAME_POWER).all())


def _points(table: pd.DataFrame, *columns: str) -> list[dict[str, Any]]:
    return table[list(columns)].dropna().to_dict("records")
