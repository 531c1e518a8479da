"""Gaps between consecutive arms, each of which trains more than the last, and their rates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .theorems import THEOREMS

if TYPE_CHECKING:
    import pandas as pd

GAPS = tuple(pairwise(THEOREMS))  # (upper, lower) arm
COROLLARY_1 = {("plain", "finetune"): -2, ("finetune", "joint"): -1}  # the claimed powers of n
RESOLUTION = 1e-12  # of E[y²]: the closed forms' own rounding stays below 1e-14 of it


def gap(curves: pd.DataFrame, arms: tuple[str, str], x: str) -> pd.Series:
    """Upper minus lower arm's risk over E[y²], by the column `x`."""
    upper, lower = (curves[curves.arm == arm].set_index(x).normalized for arm in arms)
    return (upper - lower).sort_index()


def last_decade(context_lengths: Iterable[int]) -> list[int]:
    """The n of the last decade, where slopes are fitted."""
    lengths = sorted(context_lengths)
    return [n for n in lengths if 10 * n >= lengths[-1]]


def slope(gaps: pd.Series) -> float:
    """The power of n by which a gap closes: the slope of a log-log line through the last decade.
    NaN if the gap is no larger than rounding."""
    tail = gaps[last_decade(gaps.index)]
    if (tail < RESOLUTION).any():
        return float("nan")
    return float(np.polyfit(np.log(tail.index), np.log(tail), 1)[0])
