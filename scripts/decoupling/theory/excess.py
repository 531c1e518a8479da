"""How far closed forms lie above the numerical optimum of random mixtures."""

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
    """With one task there is nothing to decouple: nothing was found below the centred form."""
    return sampled[sampled.K > 1]


def excess(sampled: pd.DataFrame, reference: str, arm: str) -> pd.Series:
    """How far a closed form is above the optimum, in percent, by mixture."""
    rows = sampled[sampled.arm == arm].set_index("mixture")
    closed, optimum = (rows[rows.curve == curve].risk for curve in (reference, "optimum"))
    return 100 * (closed / optimum - 1)
