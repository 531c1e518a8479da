"""Standard units, in which a recipe does the same whatever the data's units are.

Features are white and labels have E[y²] = 1: x = Lx̃ with Σx = LLᵀ, and y = sỹ. Gram matrices are
means over the context's tokens: S = nTS̃Tᵀ with T = diag(L, s). Attention is equivariant: a model of
S̃ and x̃ is one of S and x with other numbers, and its risk is s² times as large. Cholesky's L and
√E[y²] are exact in powers of two, so units that differ by these give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .mixture import TaskMixture

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Scaling:
    """The size of standard units in the data's units; in the inverse, of the data's in standard
    ones."""

    tokens: float  # n
    features: np.ndarray  # L: [d, d], lower triangular
    label: float  # s

    @classmethod
    def of(cls, mix: TaskMixture, n: int) -> Scaling:
        return cls(n, np.linalg.cholesky(mix.sigma_x), mix.label_power**0.5)

    @property
    def step_factor(self) -> float:
        """The factor of a recipe's initial scale and learning rate; recipes were found for d = 10.
        Scores are products of D×D matrices: if entries and their steps were as large
        as at d = 10, scores and their steps would grow with D."""
        return min(1.0, (11 / (len(self.features) + 1)) ** 0.5)

    @property
    def inverse(self) -> Scaling:
        return Scaling(1 / self.tokens, self._features_inverse, 1 / self.label)

    @cached_property
    def _features_inverse(self) -> np.ndarray:
        return np.tril(np.linalg.inv(self.features))

    @cached_property
    def token(self) -> np.ndarray:
        """T: [D, D]."""
        return _block_diagonal(self.features, self.label)

    @cached_property
    def inverse_token(self) -> np.ndarray:
        """T⁻¹: [D, D]."""
        return _block_diagonal(self._features_inverse, 1 / self.label)

    def standardised(self, mix: TaskMixture) -> TaskMixture:
        """The mixture in standard units: ỹ = x̃ᵀβ̃ + ξ̃ with β̃ = Lᵀβ/s."""
        slopes = self.features / self.label
        return replace(
            mix,
            means=mix.means @ slopes,
            covs=slopes.T @ mix.covs @ slopes,
            sigma_x=np.eye(mix.dim),
            noise_var=mix.noise_var / self.label**2,
        )

    def attention(self, params: Arrays, *, linear: bool) -> dict[str, Any]:
        """Weights, prompts and heads of attention: WqWkᵀ = T⁻ᵀW̃qW̃kᵀT⁻¹, Wv = T⁻ᵀW̃vTᵀ, h = sT⁻ᵀh̃,
        p = Tp̃. Where attention is linear, scores are of Gram matrices: WqWkᵀ is divided by n, and
        a prompt multiplied by √n."""
        root = self.tokens**0.5 if linear else 1.0
        back = self.inverse_token.T
        change = {
            "query": lambda weights: back @ weights / root,
            "key": lambda weights: back @ weights / root,
            "value": lambda weights: back @ weights @ self.token.T,
            "prompts": lambda prompts: root * prompts @ self.token.T,
            "heads": lambda heads: self.label * heads @ self.inverse_token,
        }
        return {name: change[name](array) for name, array in params.items()}


def _block_diagonal(matrix: np.ndarray, last: float) -> np.ndarray:
    """SciPy's `block_diag` without its import, which takes a quarter of a second at every start."""
    found = np.pad(matrix, (0, 1))
    found[-1, -1] = last
    return found
