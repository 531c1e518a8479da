"""Random contexts as sequences, for models that need more than the Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.normals import normals
from ..kernels.tokens import make_tokens
from .mixture import TaskMixture
from .streams import generator

MOST = 8192  # held-out contexts at a time
NUMBERS = 2**23  # at most, in their tokens


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


def draw_sequences(
    mix: TaskMixture, n: int, stream: int, index: int, size: int, mean_scale: float = 1.0
) -> SequenceBatch:
    """Batch `index` of a stream: `size` contexts, tasks drawn by their weights, means scaled.
    It is the same whenever it is asked for."""
    chol_x, chol_cov = (np.linalg.cholesky(m).astype(np.float32) for m in (mix.sigma_x, mix.covs))
    rng, noise = generator(mix, n, stream, index), np.float32(mix.noise_var**0.5)
    found = SequenceBatch([], [], [])
    for k, count in enumerate(rng.multinomial(size, mix.weights)):
        mean = np.float32(mean_scale) * mix.means[k].astype(np.float32)
        beta = mean[:, None] + chol_cov[k] @ normals(rng, mix.dim, count)
        made = make_tokens(chol_x, beta, normals(rng, n + 1, mix.dim, count))
        tokens, query = made[:-1], made[-1]
        if noise:
            tokens[:, -1] += noise * normals(rng, n, count)
        found.tokens.append(tokens)
        found.queries.append(query[:-1])
        found.targets.append(query[-1])
    return found
