"""Random contexts as sequences, for models that need more than the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.normals import normals
from ..kernels.tokens import make_tokens
from .mixture import TaskMixture
from .streams import generator

MOST = 8192  # held-out contexts at a time
NUMBERS = 2**23  # in their tokens, if contexts are long


def at_a_time(n: int, dim: int) -> int:
    """The number of held-out contexts to draw at a time."""
    return min(MOST, max(1, NUMBERS // (n * (dim + 1))))


@dataclass(frozen=True, eq=False)
class SequenceBatch:
    """Contexts grouped by task, contexts last, in single precision."""

    tokens: list[np.ndarray]  # z_i = [x_i; y_i]: [n, D, B_k]
    queries: list[np.ndarray]  # x: [d, B_k]
    targets: list[np.ndarray]  # xᵀβ, the query's label without its noise: [B_k]

    @property
    def size(self) -> int:
        return sum(len(target) for target in self.targets)


class SequenceSampler:
    """Batches numbered 0, 1, 2, …; batch i of a stream is the same whenever it is asked for."""

    def __init__(self, mix: TaskMixture, n: int, stream: int) -> None:
        self._mix, self._n, self._stream = mix, n, stream
        self._chol_x = np.linalg.cholesky(mix.sigma_x).astype(np.float32)
        self._chol_cov = np.linalg.cholesky(mix.covs).astype(np.float32)

    def batch(self, index: int, size: int, mean_scale: float = 1.0) -> SequenceBatch:
        """Batch `index` of `size` contexts, tasks drawn by their weights, means times a scale."""
        mix, n = self._mix, self._n
        rng = generator(mix, n, self._stream, index)
        noise = np.float32(mix.noise_var**0.5)
        found = SequenceBatch([], [], [])
        for k, count in enumerate(rng.multinomial(size, mix.weights)):
            mean = np.float32(mean_scale) * mix.means[k].astype(np.float32)
            beta = mean[:, None] + self._chol_cov[k] @ normals(rng, mix.dim, count)
            made = make_tokens(self._chol_x, beta, normals(rng, n + 1, mix.dim, count))
            tokens, query = made[:-1], made[-1]
            if noise:
                tokens[:, -1] += noise * normals(rng, n, count)
            found.tokens.append(tokens)
            found.queries.append(query[:-1])
            found.targets.append(query[-1])
        return found
