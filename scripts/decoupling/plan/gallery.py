"""The gallery's entries: a sentence about each figure, and the cost of its training."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..config import Config
from ..figures import Figure
from ..models.curve import Curve
from ..sources.table import owning_setting
from .comparisons import scored_curves

ENOUGH = 80  # letters, at least, of a picture's text
SENTENCE = re.compile(r"(?<=[.?])\s+(?=[A-Z(])")


def entries(config: Config) -> list[dict[str, Any]]:
    """An entry per figure, by section: title, a sentence, and core-minutes of training (None if not
    known, 0 if nothing is trained)."""
    found = [
        {
            "figure": name,
            "section": figure.block.get("section", "Own settings"),
            "title": figure.report_label,
            "sentence": first_sentences(figure.block.get("caption", figure.label)),
            "core_minutes": core_minutes(config, trained(figure, config)),
        }
        for name, figure in config.figures.items()
    ]
    return sorted(found, key=lambda entry: entry["section"])


def first_sentences(caption: str) -> str:
    """The first sentence; the next ones too while it is short, as a question or a name alone is."""
    said, *rest = SENTENCE.split(" ".join(caption.split()))
    while len(said) < ENOUGH and rest:
        said += f" {rest.pop(0)}"
    return said


def trained(figure: Figure, config: Config) -> Iterable[Curve]:
    """Curves whose training a figure needs; the scoreboard needs more than its heat map draws."""
    if "scoreboard" in figure.needs(config):
        return scored_curves(config)
    return figure.curves(config)


def core_minutes(config: Config, curves: Iterable[Curve]) -> float | None:
    """Archived core-minutes of training these curves' settings at all n; None if not known."""
    kept = config.archive.trained.get(config.protocol.name, {})
    settings = {owning_setting(curve.setting) for curve in curves}
    costs = [kept.get(name, {}).get("core_minutes") for name in settings]
    if not all(costs):
        return None
    return round(sum(minutes for cost in costs for minutes in cost.values()), 1)
