"""Gram matrices of contexts from their random numbers."""

from __future__ import annotations

import numpy as np

from . import LARGEST, compiled, simd


def pack_grams(
    chol_x: np.ndarray, noise: float, beta: np.ndarray, below: np.ndarray, diagonal: np.ndarray
) -> np.ndarray:
    """(CB)(CB)ᵀ packed, [P, count], with C = [Lx 0; βᵀLx σ] and B lower triangular: `below` has its
    entries below the diagonal row by row, `diagonal` those on it (see `problem.gram`)."""
    dim, count = beta.shape
    rank = len(diagonal)
    if dim + 1 > LARGEST:
        return _in_numpy(chol_x, noise, beta, below, diagonal)
    padded = max(count, simd.LANES)
    if count < padded:
        fill = ((0, 0), (0, padded - count))
        beta, below, diagonal = (np.pad(array, fill) for array in (beta, below, diagonal))
    out = np.empty(((dim + 1) * (dim + 2) // 2, padded), np.float32)
    kernel = compiled(run, dim + 1, rank)
    arrays = chol_x, np.array([noise], np.float32), beta, below, diagonal, out
    kernel((0,) * (dim + 1), (0,) * rank, *(array.reshape(-1) for array in arrays), padded)
    return out[:, :count]


def run(size, rank, chol_x, noise, beta, below, diagonal, out, length):
    simd.pack_grams(size, rank, chol_x, noise, beta, below, diagonal, out, length)


def _in_numpy(
    chol_x: np.ndarray, noise: float, beta: np.ndarray, below: np.ndarray, diagonal: np.ndarray
) -> np.ndarray:
    size, rank, count = len(beta) + 1, *diagonal.shape
    factor = np.zeros((size, rank, count), np.float32)
    factor[np.tril_indices(size, -1, rank)] = below
    factor[range(rank), range(rank)] = diagonal
    features = np.tensordot(chol_x, factor[:-1], axes=1)
    labels = (beta[:, None] * features).sum(0) + np.float32(noise) * factor[-1]
    rows = np.concatenate([features, labels[None]])
    return np.concatenate([np.einsum("mb,jmb->jb", rows[i], rows[i:]) for i in range(size)])
