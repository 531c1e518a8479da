"""Gram matrices of random contexts, drawn without drawing the sequences.

Given β, the Gram matrix of n context tokens is Wishart_D(n, Ω(β)) with Ω = CCᵀ and
C = [Lx 0; βᵀLx σ]. Bartlett's decomposition draws it as (CB)(CB)ᵀ with B lower triangular:
standard normals below the diagonal, √χ²_{n−i} on it; for n < D only the first n columns.
The cost does not depend on n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.normals import normals
from ..kernels.sampling import pack_grams
from .importance import ImportanceContexts
from .mixture import TaskMixture
from .packing import packing
from .streams import generator
from .wishart import below, diagonal


@dataclass(frozen=True, eq=False)
class GramBatch:
    """Contexts grouped by task, contexts last. Gram matrices are packed: their upper triangle row
    by row, P = D(D+1)/2 numbers."""

    packed: list[np.ndarray]  # [P, B_k]
    betas: list[np.ndarray]  # [d, B_k]
    weights: list[np.ndarray] | None = None  # of the contexts in means over them; None: all 1

    @property
    def grams(self) -> list[np.ndarray]:
        """Gram matrices in full: [D, D, B_k]."""
        size = self.betas[0].shape[0] + 1
        return [packed[packing(size).position] for packed in self.packed]

    @property
    def size(self) -> int:
        return sum(beta.shape[1] for beta in self.betas)


class GramSampler:
    """Batches numbered 0, 1, 2, …; batch i of a stream is the same whenever it is asked for."""

    def __init__(self, mix: TaskMixture, n: int, stream: int, scale: float = 1.0) -> None:
        """Gram matrices are multiplied by `scale`."""
        self._mix, self._n = mix, n
        self._generator = lambda index: generator(mix, n, stream, index)
        self._chol_x = (scale**0.5 * np.linalg.cholesky(mix.sigma_x)).astype(np.float32)
        self._chol_cov = np.linalg.cholesky(mix.covs).astype(np.float32)
        self._noise = (scale * mix.noise_var) ** 0.5

    def batch(
        self, index: int, size: int, mean_scale: float = 1.0, *, importance: bool = False
    ) -> GramBatch:
        """Batch `index` of `size` contexts, tasks drawn by their weights, means times a scale;
        `importance`: drawn as `problem.importance` says, with weights."""
        rng, n, dim = self._generator(index), self._n, self._mix.dim
        entries = len(below(n, dim + 1)[0])
        batch = GramBatch([], [], [] if importance else None)
        for k, count in enumerate(rng.multinomial(size, self._mix.weights)):
            mean = np.float32(mean_scale) * self._mix.means[k].astype(np.float32)
            white = normals(rng, dim, count)
            factor = normals(rng, entries, count), diagonal(rng, n, dim + 1, count)
            drawn = ImportanceContexts(rng, n, white, *factor) if importance else None
            beta = mean[:, None] + self._chol_cov[k] @ white
            packed = pack_grams(self._chol_x, self._noise, beta, *factor)
            if drawn:
                drawn.move(packed, self._chol_x, self._noise, beta)
                batch.weights.append(drawn.weights.astype(np.float32))
            batch.packed.append(packed)
            batch.betas.append(beta)
        return batch
