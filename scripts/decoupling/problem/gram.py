"""Gram matrices of random contexts, drawn without drawing the sequences.

Given β, the Gram matrix of n context tokens is Wishart_D(n, Ω(β)) with Ω = CCᵀ and
C = [Lx 0; βᵀLx σ]. Bartlett's decomposition draws it as (CB)(CB)ᵀ with B lower triangular:
standard normals below the diagonal, √χ²_{n−i} on it; for n < D only the first n columns.
The cost does not depend on n.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch

from .spec import TaskMixture


@dataclass(frozen=True, eq=False)
class GramBatch:
    """Contexts grouped by task, contexts last: `grams[k]` is [D, D, B_k], `betas[k]` [d, B_k]."""

    grams: list[torch.Tensor]
    betas: list[torch.Tensor]

    @property
    def size(self) -> int:
        return sum(beta.shape[1] for beta in self.betas)


class GramSampler:
    """Batches numbered 0, 1, 2, …; batch i of a stream is the same whenever it is asked for.

    Random numbers come from NumPy on the CPU whatever the device, so that every device sees
    the same data.
    """

    def __init__(
        self, mix: TaskMixture, n: int, stream: str, device: torch.device | str = "cpu"
    ) -> None:
        key = hashlib.sha256(f"{mix.digest}/{n}/{stream}".encode()).digest()
        self._entropy = int.from_bytes(key, "big")
        self._mix = mix
        self._n = n
        self._device = device
        self._chol_x = torch.tensor(np.linalg.cholesky(mix.sigma_x), dtype=torch.float32)
        self._chol_cov = np.linalg.cholesky(mix.covs).astype(np.float32)

    def batch(self, index: int, size: int, mean_scale: float = 1.0) -> GramBatch:
        """Batch `index` of `size` contexts, tasks drawn by their weights, means times a scale."""
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence([self._entropy, index])))
        grams, betas = [], []
        for k, count in enumerate(rng.multinomial(size, self._mix.weights)):
            mean = np.float32(mean_scale) * self._mix.means[k].astype(np.float32)
            normals = rng.standard_normal((self._mix.dim, count), dtype=np.float32)
            beta = self._to_device(mean[:, None] + self._chol_cov[k] @ normals)
            grams.append(self._grams(beta, self._to_device(self._bartlett(rng, count))))
            betas.append(beta)
        return GramBatch(grams, betas)

    def _to_device(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device)

    def _bartlett(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """B, [D, min(n, D), count]."""
        size = self._mix.dim + 1
        rank = min(self._n, size)
        rows, columns = np.tril_indices(size, -1, rank)
        factor = np.zeros((size, rank, count), dtype=np.float32)
        factor[rows, columns] = rng.standard_normal((len(rows), count), dtype=np.float32)
        for i in range(rank):
            half_chi2 = rng.standard_gamma((self._n - i) / 2, count, dtype=np.float32)
            factor[i, i] = np.sqrt(2 * half_chi2)
        return factor

    def _grams(self, beta: torch.Tensor, bartlett: torch.Tensor) -> torch.Tensor:
        """(CB)(CB)ᵀ; CB is lower triangular, so column j only reaches rows j and below."""
        size, rank, count = bartlett.shape
        features = torch.tensordot(self._chol_x.to(beta.device), bartlett[:-1], dims=1)
        labels = (beta[:, None] * features).sum(0) + self._mix.noise_var**0.5 * bartlett[-1]
        factor = torch.cat([features, labels[None]])
        grams = torch.zeros(size, size, count, device=beta.device)
        for j in range(rank):
            column = factor[j:, j]
            grams[j:, j:].addcmul_(column[:, None], column[None])
        return grams
