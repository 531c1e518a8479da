"""Excess of closed forms over the numerical optimum, for random mixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (  # reference, arm
    ("theorem", "plain"),
    ("theorem", "finetune"),
    ("theorem", "joint"),
    ("theorem", "joint_heads"),
    ("centred", "joint"),
    ("energy", "joint"),
)


def several_tasks(sampled: pd.DataFrame) -> pd.DataFrame:
    """Mixtures with several tasks. With one, no optimum was found below the centred form."""
    return sampled[sampled.K > 1]


def excess(sampled: pd.DataFrame, reference: str, arm: str) -> pd.Series:
    """Excess of a closed form over the optimum, in percent, by mixture."""
    rows = sampled[sampled.arm == arm].set_index("mixture")
    closed, optimum = (rows[rows.curve == curve].risk for curve in (reference, "optimum"))
    return 100 * (closed / optimum - 1)
