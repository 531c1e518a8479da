"""Finished runs that are kept in data/reference/, and words for what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..models.arms import ARMS


@dataclass(frozen=True)
class Kept:
    """What data/reference/ holds: results by protocol, and measured times."""

    laptop: pd.DataFrame
    exact: pd.DataFrame
    paper: pd.DataFrame
    bounds: pd.DataFrame  # of `laptop`
    costs: Mapping[str, pd.DataFrame]  # by protocol
    speed: Mapping[str, Any]


def span(values: pd.Series) -> dict[str, float]:
    return {"least": values.min(), "most": values.max()}


def arms_in_order(column: pd.Series) -> pd.Series:
    return column.map(list(ARMS).index) if column.name == "arm" else column


def moved(doubling: list[Mapping], most: float) -> list[dict[str, Any]]:
    """Points that twice the iterations change by more than `most`, and whether for the worse."""
    rows = [{**row, "worse": row["changed"] > row["risk"]} for row in doubling]
    return [row for row in rows if abs(row["changed"] / row["risk"] - 1) > most]
