"""What one-layer training needs to know of the data: moments of the context's Gram matrix S.

The squared error of one layer is quadratic in S, so a batch, or the whole population, enters
only through E[S_ij S_kl], E[β_m S_ij], E[S_ij] and β's first two moments. `population_moments`
has them in closed form ("batch size ∞"), `batch_moments` from a sampled batch; both give the
same `Moments`. Symmetric index pairs are packed: P = D(D+1)/2 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch

from .sampling import GramBatch
from .spec import TaskMixture


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments per task, each already weighted by the task's probability (or batch share)."""

    second: torch.Tensor  # ½E[S_ik S_jl + S_il S_jk] over packed (ij), (kl): [K, P, P]
    cross: torch.Tensor  # E[S_jl β_m] as [K, j, m, l]: [K, D, d, D]
    first: torch.Tensor  # E[S_ij]: [K, D, D]
    beta: torch.Tensor  # E[β]: [K, d]
    mass: torch.Tensor  # the weights themselves: [K]
    label_power: float  # tr(Σx E[ββᵀ]) + σ², of the whole mixture
    sigma_x: torch.Tensor | None  # Σx: [d, d]; None for the identity

    @cached_property
    def pooled(self) -> tuple[torch.Tensor, torch.Tensor]:
        """`second` and `cross` of the mixture as one task, for models that share the head."""
        return self.second.sum(0, keepdim=True), self.cross.sum(0, keepdim=True)


@dataclass(frozen=True, eq=False)
class Packing:
    """Index tables between D×D symmetric matrices and their P packed entries."""

    rows: torch.Tensor  # i of packed entry, [P]
    cols: torch.Tensor  # j ≥ i of packed entry, [P]
    unpack: torch.Tensor  # packed position of (i, j), [D·D]
    multiplicity: torch.Tensor  # 1 on the diagonal, 2 off it, [P]

    def square(self, packed: torch.Tensor) -> torch.Tensor:
        """[…, P] to […, D, D]."""
        size = int(len(self.unpack) ** 0.5)
        return packed.index_select(-1, self.unpack).unflatten(-1, (size, size))

    def outer(self, vectors: torch.Tensor) -> torch.Tensor:
        """vvᵀ packed, each entry times its multiplicity: […, D] to […, P]."""
        left, right = (vectors.index_select(-1, index) for index in (self.rows, self.cols))
        return left * right * self.multiplicity

    def pack(self, matrices: torch.Tensor) -> torch.Tensor:
        """Symmetric matrices packed, each entry times its multiplicity: […, D, D] to […, P]."""
        position = self.rows * matrices.shape[-1] + self.cols
        return matrices.flatten(-2).index_select(-1, position) * self.multiplicity


@cache
def packing(size: int, device: torch.device) -> Packing:
    rows, cols = torch.triu_indices(size, size, device=device)
    position = torch.zeros(size, size, dtype=torch.long, device=device)
    position[rows, cols] = position[cols, rows] = torch.arange(len(rows), device=device)
    multiplicity = torch.where(rows == cols, 1.0, 2.0).to(torch.float64)
    return Packing(rows, cols, position.reshape(-1), multiplicity)


def batch_moments(batch: GramBatch, mix: TaskMixture) -> Moments:
    """Averages over a batch of contexts; tasks count by their share of the batch."""
    device = batch.grams[0].device
    pack = packing(mix.dim + 1, device)
    second, cross, first, beta, mass, beta_outer = [], [], [], [], [], 0
    for gram, b in zip(batch.grams, batch.betas, strict=True):
        entries = gram[pack.rows, pack.cols]
        second.append(entries @ entries.T / batch.size)
        cross.append(pack.square(b @ entries.T / batch.size))
        first.append(pack.square(entries.sum(1) / batch.size))
        beta.append(b.sum(1) / batch.size)
        mass.append(b.shape[1] / batch.size)
        beta_outer = beta_outer + (b @ b.T / batch.size).double()
    beta_power = (torch.tensor(mix.sigma_x, device=device) * beta_outer).sum()
    return Moments(
        second=_exchange(torch.stack(second).double(), pack),
        cross=torch.stack(cross).double().transpose(1, 2).contiguous(),
        first=torch.stack(first).double(),
        beta=torch.stack(beta).double(),
        mass=torch.tensor(mass, dtype=torch.float64, device=device),
        label_power=float(beta_power) + mix.noise_var,
        sigma_x=_unless_identity(mix.sigma_x, device),
    )


def population_moments(mix: TaskMixture, n: int, device: torch.device | str = "cpu") -> Moments:
    """The exact moments: S | β is Wishart(n, Ω(β)) and β is Gaussian, so
    E[S_ij S_kl | β] = n²Ω_ijΩ_kl + n(Ω_ikΩ_jl + Ω_ilΩ_jk), and E[ΩΩ] needs β up to order 4."""
    second, cross, first = [], [], []
    for k, weight in enumerate(mix.weights):
        omega, omega_beta, pair = _omega_moments(mix, k)
        swapped = pair.transpose(0, 2, 1, 3) + pair.transpose(0, 3, 2, 1)
        second.append(weight * (n**2 * pair + n * swapped))
        cross.append(weight * n * omega_beta)
        first.append(weight * n * omega)
    pack = packing(mix.dim + 1, torch.device(device))

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(array), device=device)

    packed = tensor(np.stack(second))[:, pack.rows, pack.cols][:, :, pack.rows, pack.cols]
    return Moments(
        second=_exchange(packed, pack),
        cross=tensor(np.stack(cross)).permute(0, 2, 1, 3).contiguous(),
        first=tensor(np.stack(first)),
        beta=tensor(mix.weights[:, None] * mix.means),
        mass=tensor(mix.weights),
        label_power=mix.label_power,
        sigma_x=_unless_identity(mix.sigma_x, device),
    )


def centred(moments: Moments, mix: TaskMixture) -> Moments:
    """The same moments of S − E[S | k] and β − E[β | k]."""
    mass = moments.mass[:, None, None]
    pack = packing(mix.dim + 1, moments.mass.device)
    first = moments.first[:, pack.rows, pack.cols]
    return Moments(
        second=moments.second - _exchange(first[:, :, None] * first[:, None] / mass, pack),
        cross=moments.cross
        - torch.einsum("kjl,km->kjml", moments.first, moments.beta) / mass[..., None],
        first=torch.zeros_like(moments.first),
        beta=torch.zeros_like(moments.beta),
        mass=moments.mass,
        label_power=float(np.trace(mix.sigma_x @ mix.debiased_cov)) + mix.noise_var,
        sigma_x=moments.sigma_x,
    )


def _unless_identity(matrix: np.ndarray, device: torch.device | str) -> torch.Tensor | None:
    """Training steps are small enough that multiplying by the identity would be felt."""
    if np.array_equal(matrix, np.eye(len(matrix))):
        return None
    return torch.tensor(matrix, device=device)


def _exchange(pairs: torch.Tensor, pack: Packing) -> torch.Tensor:
    """From E[S_ij S_kl] over packed pairs to ½E[S_ik S_jl + S_il S_jk] over packed (ij), (kl)."""
    position = pack.square(torch.arange(len(pack.rows), device=pairs.device))
    i, j = pack.rows[:, None], pack.cols[:, None]
    k, l = pack.rows[None], pack.cols[None]
    return (pairs[:, position[i, k], position[j, l]] + pairs[:, position[i, l], position[j, k]]) / 2


def _omega_moments(mix: TaskMixture, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[Ω_ij], E[β_m Ω_ij] as [m, i, j] and E[Ω_ij Ω_kl] for task k.

    Ω = [Σx, Σxβ; βᵀΣx, r] with r = βᵀΣxβ + σ² varies with β only through v = [Σxβ; r],
    so each moment is the product of the means plus a covariance with v.
    """
    d, sx, mu, cov = mix.dim, mix.sigma_x, mix.means[k], mix.covs[k]
    power = np.trace(sx @ (cov + np.outer(mu, mu))) + mix.noise_var  # E[r]
    omega = np.block([[sx, (sx @ mu)[:, None]], [(sx @ mu)[None], np.array([[power]])]])

    beta_power = 2 * cov @ sx @ mu  # Cov(β, r)
    power_var = 2 * np.trace(sx @ cov @ sx @ cov) + 4 * mu @ sx @ cov @ sx @ mu  # Var(r)
    beta_cov = np.hstack([cov @ sx, beta_power[:, None]])  # Cov(β, v)
    label_cov = np.vstack([sx @ beta_cov, np.append(sx @ beta_power, power_var)])  # Cov(v, v)

    place = np.zeros((d + 1, d + 1, d + 1))  # dΩ_ij/dv_m
    for m in range(d + 1):
        place[m, m, d] = place[m, d, m] = 1
    omega_beta = mu[:, None, None] * omega + np.tensordot(beta_cov, place, 1)
    pair = np.multiply.outer(omega, omega)
    pair += np.tensordot(np.tensordot(place, label_cov, (0, 0)), place, 1)
    return omega, omega_beta, pair
