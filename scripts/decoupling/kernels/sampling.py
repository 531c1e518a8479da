"""Gram matrices of contexts from their random numbers."""

from __future__ import annotations

import numpy as np

from . import algebra, compiled
from .simd import LANES


def pack_grams(
    chol_x: np.ndarray, noise: float, beta: np.ndarray, below: np.ndarray, diagonal: np.ndarray
) -> np.ndarray:
    """(CB)(CB)ᵀ packed, [P, count], with C = [Lx 0; βᵀLx σ] and B lower triangular: `below` has its
    entries below the diagonal row by row, `diagonal` those on it (see `problem.gram`)."""
    dim, count = beta.shape
    rank = len(diagonal)
    padded = max(count, LANES)
    if count < padded:
        fill = ((0, 0), (0, padded - count))
        beta, below, diagonal = (np.pad(array, fill) for array in (beta, below, diagonal))
    out = np.empty(((dim + 1) * (dim + 2) // 2, padded), np.float32)
    kernel = compiled(run, dim + 1, rank)
    arrays = chol_x, np.array([noise], np.float32), beta, below, diagonal, out
    kernel((0,) * (dim + 1), (0,) * rank, *(array.reshape(-1) for array in arrays), padded)
    return out[:, :count]


def run(size, rank, chol_x, noise, beta, below, diagonal, out, length):
    factor = np.zeros(len(size) * len(rank) * LANES, np.float32)
    product = np.zeros_like(factor)
    algebra.pack_grams(
        size, rank, chol_x, noise, beta, below, diagonal, factor, product, out, length
    )  # fmt: skip
