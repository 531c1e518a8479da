"""The solution of a closed form: a risk, and parameters of one layer that reach it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """ŷ = [x; 0]ᵀ A G a_k with G = Σ zzᵀ + p_k p_kᵀ reaches the risk; only the first d rows of A
    matter, A₁."""

    risk: float
    weight: np.ndarray  # W, the first d columns of A₁
    prompts: np.ndarray | None  # p_k, [K, D]
    readouts: np.ndarray  # a_k, [K, D]
    energy: np.ndarray | None = None  # w, the last column of A₁; None for 0, as in Assumption 1

    @property
    def scores(self) -> np.ndarray:
        """A₁ = [W w], [d, D]."""
        last = np.zeros(len(self.weight)) if self.energy is None else self.energy
        return np.column_stack([self.weight, last])
