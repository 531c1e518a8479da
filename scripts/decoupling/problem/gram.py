"""Gram matrices of random contexts, drawn without drawing the sequences.

Given β, the Gram matrix of n context tokens is Wishart_D(n, Ω(β)) with Ω = CCᵀ and
C = [Lx 0; βᵀLx σ]. Bartlett's decomposition draws it as (CB)(CB)ᵀ with B lower triangular:
standard normals below the diagonal, √χ²_{n−i} on it; for n < D only the first n columns.
The cost does not depend on n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .mixture import TaskMixture
from .streams import generator


@dataclass(frozen=True, eq=False)
class GramBatch:
    """Contexts grouped by task, contexts last: `grams[k]` is [D, D, B_k], `betas[k]` [d, B_k]."""

    grams: list[np.ndarray]
    betas: list[np.ndarray]

    @property
    def size(self) -> int:
        return sum(beta.shape[1] for beta in self.betas)


class GramSampler:
    """Batches numbered 0, 1, 2, …; batch i of a stream is the same whenever it is asked for."""

    def __init__(self, mix: TaskMixture, n: int, stream: int) -> None:
        self._mix, self._n = mix, n
        self._generator = lambda index: generator(mix, n, stream, index)
        self._chol_x = np.linalg.cholesky(mix.sigma_x).astype(np.float32)
        self._chol_cov = np.linalg.cholesky(mix.covs).astype(np.float32)

    def batch(self, index: int, size: int, mean_scale: float = 1.0) -> GramBatch:
        """Batch `index` of `size` contexts, tasks drawn by their weights, means times a scale."""
        rng = self._generator(index)
        grams, betas = [], []
        for k, count in enumerate(rng.multinomial(size, self._mix.weights)):
            mean = np.float32(mean_scale) * self._mix.means[k].astype(np.float32)
            normals = rng.standard_normal((self._mix.dim, count), dtype=np.float32)
            betas.append(mean[:, None] + self._chol_cov[k] @ normals)
            grams.append(self._grams(betas[-1], bartlett(rng, self._n, self._mix.dim + 1, count)))
        return GramBatch(grams, betas)

    def _grams(self, beta: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """(CB)(CB)ᵀ, a row at a time; CB is lower triangular, so row i ends at column i."""
        size, rank, count = factor.shape
        features = np.tensordot(self._chol_x, factor[:-1], axes=1)
        noise = np.float32(self._mix.noise_var**0.5)
        labels = (beta[:, None] * features).sum(0) + noise * factor[-1]
        rows = np.concatenate([features, labels[None]])
        grams = np.empty((size, size, count), dtype=np.float32)
        for i in range(size):
            end = min(i + 1, rank)
            grams[i, : i + 1] = np.einsum("mb,jmb->jb", rows[i, :end], rows[: i + 1, :end])
            grams[:i, i] = grams[i, :i]
        return grams


def bartlett(
    rng: np.random.Generator, n: int, size: int, count: int, dtype: type = np.float32
) -> np.ndarray:
    """B with BBᵀ ~ Wishart_size(n, I), for `count` contexts: [size, min(n, size), count]."""
    rank = min(n, size)
    rows, columns = np.tril_indices(size, -1, rank)
    factor = np.zeros((size, rank, count), dtype=dtype)
    factor[rows, columns] = rng.standard_normal((len(rows), count), dtype=dtype)
    for i in range(rank):
        half_chi2 = rng.standard_gamma((n - i) / 2, count, dtype=dtype)
        factor[i, i] = np.sqrt(2 * half_chi2)
    return factor
