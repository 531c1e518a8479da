"""What one-layer training needs to know of the data: moments of the context's Gram matrix S.

The squared error of one layer is quadratic in S, so a batch, or the whole population, enters
only through E[S_ij S_kl], E[β_m S_ij], E[S_ij] and β's first two moments. `population_moments`
has them in closed form ("batch size ∞"), `batch_moments` from a sampled batch; both give the
same `Moments`. Symmetric index pairs are packed: P = D(D+1)/2 of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from . import one_layer
from .mixture import TaskMixture
from .one_layer import OneLayer
from .packing import Packing, packing

if TYPE_CHECKING:
    from .gram import GramBatch


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments per task, each already weighted by the task's probability (or batch share)."""

    second: np.ndarray  # ½E[S_ik S_jl + S_il S_jk] over packed (ij), (kl): [K, P, P]
    cross: np.ndarray  # E[S_jl β_m] as [K, j, (m, l)]: [K, D, d·D]
    first: np.ndarray  # E[S_ij]: [K, D, D]
    beta: np.ndarray  # E[β]: [K, d]
    mass: np.ndarray  # the weights themselves: [K]
    label_power: float  # tr(Σx E[ββᵀ]) + σ², of the whole mixture
    sigma_x: np.ndarray | None  # Σx: [d, d]; None for the identity

    def __post_init__(self) -> None:
        """As compiled code takes them."""
        for name in ("second", "cross", "first", "beta", "mass", "sigma_x"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.require(value, float, "CW"))

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """`second` and `cross` of the mixture as one task, for models that share the head."""
        return self.second.sum(0, keepdims=True), self.cross.sum(0, keepdims=True)

    def risk(self, model: OneLayer) -> np.ndarray:
        """The risk of every seed, [seeds]."""
        return one_layer.risk(self, model)

    def risk_and_gradient(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The same, and its gradient with respect to A₁, a_k and p_k."""
        return one_layer.risk_and_gradient(self, model)


def batch_moments(batch: GramBatch, mix: TaskMixture) -> Moments:
    """Averages over a batch of contexts; tasks count by their share of the batch."""
    pack = packing(mix.dim + 1)
    sums = [_sums(*pair) for pair in zip(batch.packed, batch.betas, strict=True)]
    averages = (np.stack(part) / batch.size for part in zip(*sums, strict=True))
    second, cross, first, beta, outer, mass = averages
    return Moments(
        second=_exchange(second, pack),
        cross=_join(pack.square(cross)),
        first=pack.square(first),
        beta=beta,
        mass=mass,
        label_power=float((mix.sigma_x * outer.sum(0)).sum()) + mix.noise_var,
        sigma_x=_unless_identity(mix.sigma_x),
    )


def _sums(entries: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sums over a task's contexts: SS and βS over packed entries, S, β, ββᵀ and 1."""
    sums = (entries @ entries.T, beta @ entries.T, entries.sum(1), beta.sum(1), beta @ beta.T)
    return (*(array.astype(float) for array in sums), np.float64(beta.shape[1]))


def population_moments(mix: TaskMixture, n: int) -> Moments:
    """The exact moments: S | β is Wishart(n, Ω(β)) and β is Gaussian, so
    E[S_ij S_kl | β] = n²Ω_ijΩ_kl + n(Ω_ikΩ_jl + Ω_ilΩ_jk), and E[ΩΩ] needs β up to order 4."""
    second, cross, first = [], [], []
    for k, weight in enumerate(mix.weights):
        omega, omega_beta, pair = _omega_moments(mix, k)
        swapped = pair.transpose(0, 2, 1, 3) + pair.transpose(0, 3, 2, 1)
        second.append(weight * (n**2 * pair + n * swapped))
        cross.append(weight * n * omega_beta)
        first.append(weight * n * omega)
    pack = packing(mix.dim + 1)
    pairs = np.stack(second)[:, pack.rows, pack.cols][:, :, pack.rows, pack.cols]
    return Moments(
        second=_exchange(pairs, pack),
        cross=_join(np.stack(cross)),
        first=np.stack(first),
        beta=mix.weights[:, None] * mix.means,
        mass=mix.weights,
        label_power=mix.label_power,
        sigma_x=_unless_identity(mix.sigma_x),
    )


def merged(moments: Moments) -> Moments:
    """The same moments of the mixture as one task."""
    second, cross = moments.pooled
    totals = (array.sum(0, keepdims=True) for array in (moments.first, moments.beta, moments.mass))
    first, beta, mass = totals
    return replace(moments, second=second, cross=cross, first=first, beta=beta, mass=mass)


def centred(moments: Moments, mix: TaskMixture) -> Moments:
    """The same moments of S − E[S | k] and β − E[β | k]; of a merged mixture's moments, those of
    the merged task."""
    mass = moments.mass[:, None, None]
    pack = packing(mix.dim + 1)
    first = moments.first[:, pack.rows, pack.cols]
    products = np.einsum("km,kjl->kmjl", moments.beta, moments.first) / mass[..., None]
    return Moments(
        second=moments.second - _exchange(first[:, :, None] * first[:, None] / mass, pack),
        cross=moments.cross - _join(products),
        first=np.zeros_like(moments.first),
        beta=np.zeros_like(moments.beta),
        mass=moments.mass,
        label_power=float(np.trace(mix.sigma_x @ mix.debiased_cov)) + mix.noise_var,
        sigma_x=moments.sigma_x,
    )


def label_moments(mix: TaskMixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[Ω], Cov(β, v) and Cov(v) of every task: [K, D, D], [K, d, D], [K, D, D].

    Ω = [Σx, Σxβ; βᵀΣx, r] with r = βᵀΣxβ + σ² is the second moment of a token [x; y] given β; it
    varies with β only through its last column v = [Σxβ; r].
    """
    found = [_label_moments(mix, k) for k in range(mix.tasks)]
    omega, beta_cov, label_cov = (np.stack(part) for part in zip(*found, strict=True))
    return omega, beta_cov, label_cov


def _unless_identity(matrix: np.ndarray) -> np.ndarray | None:
    """Training steps are small enough that multiplying by the identity would be felt."""
    return None if np.array_equal(matrix, np.eye(len(matrix))) else matrix


def _join(cross: np.ndarray) -> np.ndarray:
    """From [K, m, j, l] to [K, j, (m, l)]."""
    tasks, _, size, _ = cross.shape
    return np.ascontiguousarray(cross.swapaxes(1, 2)).reshape(tasks, size, -1)


def _exchange(pairs: np.ndarray, pack: Packing) -> np.ndarray:
    """From E[S_ij S_kl] over packed pairs to ½E[S_ik S_jl + S_il S_jk] over packed (ij), (kl)."""
    position = pack.position
    i, j = pack.rows[:, None], pack.cols[:, None]
    k, l = pack.rows[None], pack.cols[None]
    both = pairs[:, position[i, k], position[j, l]] + pairs[:, position[i, l], position[j, k]]
    return both / 2


def _omega_moments(mix: TaskMixture, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[Ω_ij], E[β_m Ω_ij] as [m, i, j] and E[Ω_ij Ω_kl] for task k: as Ω varies with v alone, each
    is the product of the means plus a covariance with v."""
    omega, beta_cov, label_cov = _label_moments(mix, k)
    d = mix.dim
    place = np.zeros((d + 1, d + 1, d + 1))  # dΩ_ij/dv_m
    for m in range(d + 1):
        place[m, m, d] = place[m, d, m] = 1
    omega_beta = mix.means[k][:, None, None] * omega + np.tensordot(beta_cov, place, 1)
    pair = np.multiply.outer(omega, omega)
    pair += np.tensordot(np.tensordot(place, label_cov, (0, 0)), place, 1)
    return omega, omega_beta, pair


def _label_moments(mix: TaskMixture, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[Ω], Cov(β, v) and Cov(v) for task k."""
    sx, mu, cov = mix.sigma_x, mix.means[k], mix.covs[k]
    power = np.trace(sx @ (cov + np.outer(mu, mu))) + mix.noise_var  # E[r]
    omega = np.block([[sx, (sx @ mu)[:, None]], [(sx @ mu)[None], np.array([[power]])]])
    beta_power = 2 * cov @ sx @ mu  # Cov(β, r)
    power_var = 2 * np.trace(sx @ cov @ sx @ cov) + 4 * mu @ sx @ cov @ sx @ mu  # Var(r)
    beta_cov = np.hstack([cov @ sx, beta_power[:, None]])
    label_cov = np.vstack([sx @ beta_cov, np.append(sx @ beta_power, power_var)])
    return omega, beta_cov, label_cov
