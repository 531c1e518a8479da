"""Moments of a batch's Gram matrices S: all that one-layer training needs to know of it.

The squared error of one layer is quadratic in S, so a batch enters only through E[S_ij S_kl],
E[β_m S_ij], E[S_ij] and β's first two moments. Symmetric index pairs are packed: P = D(D+1)/2 of
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from . import one_layer
from .mixture import TaskMixture
from .one_layer import Features, OneLayer, unless_identity
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
        """Bring arrays into the layout that compiled code takes."""
        for name in ("second", "cross", "first", "beta", "mass", "sigma_x"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.require(value, float, "CW"))

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """`second` and `cross` of the mixture as one task, for models that share the head."""
        return self.second.sum(0, keepdims=True), self.cross.sum(0, keepdims=True)

    def features(self, readouts: np.ndarray, prompts: np.ndarray | None) -> Features:
        pack = packing(readouts.shape[-1])
        second, cross = self._of(readouts)
        outer = pack.square((pack.outer(readouts) @ second).sum(0))
        beta = (readouts @ cross).sum(0).reshape(-1, pack.size - 1, pack.size)
        if prompts is None:
            return Features(outer, beta, None)
        gram_readouts = readouts @ self.first
        overlap = (prompts * readouts).sum(-1, keepdims=True)
        shift = overlap * prompts
        half = overlap * gram_readouts + (0.5 * self.mass[:, None, None]) * overlap * shift
        by_seed = prompts.swapaxes(0, 1)
        prompt_part = half.swapaxes(0, 1).mT @ by_seed
        outer = outer + prompt_part + prompt_part.mT
        beta = beta + self.beta.T @ shift.swapaxes(0, 1)
        return Features(outer, beta, (gram_readouts, overlap))

    def pull(
        self, model: OneLayer, found: Features, form: np.ndarray, weighted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        readouts, prompts = model.readouts, model.prompts
        pack = packing(readouts.shape[-1])
        second, cross = self._of(readouts)
        pulled = pack.square(pack.pack(form) @ second)
        grad_readouts = (pulled @ readouts[..., None])[..., 0]
        grad_readouts -= weighted.reshape(len(weighted), -1) @ cross.mT
        grad_readouts *= 2
        if prompts is None:
            return grad_readouts, None

        (gram_readouts, overlap), mass = found.kept, self.mass[:, None, None]
        form_prompts = _apply(form, prompts)  # Bp
        form_grams = _apply(form, gram_readouts)  # B E[S]a
        label_prompts = (self.beta @ weighted).swapaxes(0, 1)  # (ΣxA₁)ᵀE[β]
        shift = overlap * form_prompts
        pull = form_grams + mass * shift - label_prompts
        grad_overlap = 2 * (prompts * pull).sum(-1, keepdims=True)
        to_readouts = grad_overlap * prompts + 2 * (shift @ self.first)
        grad_readouts += to_readouts if len(readouts) > 1 else to_readouts.sum(0)
        return grad_readouts, grad_overlap * readouts + 2 * overlap * pull

    def _of(self, readouts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (self.second, self.cross) if len(readouts) > 1 else self.pooled

    def risk(self, model: OneLayer) -> np.ndarray:
        """The risk of every seed, [seeds]."""
        return one_layer.risk(self, model)

    def risk_and_gradient(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The risk of every seed, and its gradient with respect to A₁, a_k and p_k."""
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
        sigma_x=unless_identity(mix.sigma_x),
    )


def _sums(entries: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sums over a task's contexts: SS and βS over packed entries, S, β, ββᵀ and 1."""
    sums = (entries @ entries.T, beta @ entries.T, entries.sum(1), beta.sum(1), beta @ beta.T)
    return (*(array.astype(float) for array in sums), np.float64(beta.shape[1]))


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


def _apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """A symmetric matrix per seed, [seeds, D, D], on vectors per task and seed, [K, seeds, D]."""
    return (vectors.swapaxes(0, 1) @ matrices).swapaxes(0, 1)
