"""The gate of a table's cross-validation, and the rows of it that the theorems describe. This is
all that figures need of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

GATE = 3  # standard errors by which the predicted E[y²] may differ from the measured one
REDUCED = "reduced"  # the model of the theorems


def fails_gate(gate: float, error: float) -> bool:
    """Whether the mixture's E[y²] differs from that of the data."""
    return not abs(gate - 1) <= GATE * error


def out_of_gate(rows: pd.DataFrame) -> bool:
    """Whether a setting's gate fails."""
    about = rows.iloc[0]
    return fails_gate(about.gate, about.gate_se)


def with_theory(rows: pd.DataFrame, theory_model: str, model: str) -> pd.DataFrame:
    """Rows the theorems describe: the reduced model's arms, and attention's arms with heads."""
    heads = (rows.model == model) & (rows.arm == "joint_heads")
    return rows[(rows.model == theory_model) | heads]
