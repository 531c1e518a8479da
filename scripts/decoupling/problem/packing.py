"""Symmetric matrices packed: P = D(D+1)/2 of their entries, the upper triangle row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True, eq=False)
class Packing:
    """Index tables between D×D symmetric matrices and their P packed entries."""

    size: int  # D
    rows: np.ndarray  # i of packed entry, [P]
    cols: np.ndarray  # j ≥ i of packed entry, [P]
    position: np.ndarray  # packed position of (i, j), [D, D]
    multiplicity: np.ndarray  # 1 on the diagonal, 2 off it, [P]

    def square(self, packed: np.ndarray) -> np.ndarray:
        """[…, P] to […, D, D]."""
        return packed.take(self.position, -1)

    def outer(self, vectors: np.ndarray) -> np.ndarray:
        """vvᵀ packed, each entry times its multiplicity: […, D] to […, P]."""
        return vectors.take(self.rows, -1) * vectors.take(self.cols, -1) * self.multiplicity

    def pack(self, matrices: np.ndarray) -> np.ndarray:
        """Symmetric matrices packed, each entry times its multiplicity: [seeds, D, D] to […, P]."""
        flat = matrices.reshape(len(matrices), -1)
        return flat.take(self.rows * self.size + self.cols, -1) * self.multiplicity


@cache
def packing(size: int) -> Packing:
    rows, cols = np.triu_indices(size)
    position = np.zeros((size, size), dtype=int)
    position[rows, cols] = position[cols, rows] = np.arange(len(rows))
    return Packing(size, rows, cols, position, np.where(rows == cols, 1.0, 2.0))
