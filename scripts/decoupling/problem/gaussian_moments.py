"""Exact moments of Gaussian data: all of the population's contexts, "batch size ∞".

Given β, the Gram matrix S of a context is Wishart(n, Ω), and Ω = [Σx, Σxβ; βᵀΣx, r] with
r = βᵀΣxβ + σ² is affine in v = [Σxβ; r]. So the risk needs only the mean of Ω and the covariances
of v with β and itself: D × D numbers a task, and no table of fourth moments of S. For a
readout a = [a_x; α], with b = [a_x; 0], the last unit vector e, C = Cov(v) and m = E[Ω]a:

* Ωa varies with αv + e(bᵀv), so Cov(Ωa) = α²C + α(Cb eᵀ + e bᵀC) + (bᵀCb)eeᵀ;
* aᵀΩa varies with lᵀv, l = 2αb + α²e, so E[(aᵀΩa)Ω] is (aᵀm)E[Ω], with Cl added to its last row and
  column;
* Cov(Sa) = (n² + n)Cov(Ωa) + n(mmᵀ + E[(aᵀΩa)Ω]) and Cov(β, Sa) = n(αCov(β, v) + Cov(β, v)b eᵀ).

A prompt adds the constant p(pᵀa) to the mean of φ = Sa + p(pᵀa). A seed costs O(d³ + Kd²), where d³
are two products of matrices, A₁E[φφᵀ] and A₁ᵀΣxA₁.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import one_layer
from .mixture import TaskMixture
from .one_layer import Features, OneLayer, by_sigma_x, unless_identity


@dataclass(frozen=True, eq=False)
class GaussianMoments:
    """Moments of a mixture's Gram matrices and β, by task."""

    n: int
    weights: np.ndarray  # π: [K]
    omega: np.ndarray  # E[Ω]: [K, D, D]
    beta_cov: np.ndarray  # Cov(β, v): [K, d, D]
    label_cov: np.ndarray  # Cov(v): [K, D, D]
    gram: np.ndarray  # E[S]: [K, D, D]
    beta: np.ndarray  # E[β]: [K, d]
    label_power: float  # tr(Σx E[ββᵀ]) + σ²
    sigma_x: np.ndarray | None  # Σx: [d, d]; None for the identity

    def __post_init__(self) -> None:
        """Bring arrays into the layout that compiled code takes."""
        for name in ("weights", "omega", "beta_cov", "label_cov", "gram", "beta", "sigma_x"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.require(value, float, "CW"))

    @cached_property
    def slope_cov(self) -> np.ndarray:
        """Cov(Σxβ, β), as compiled code takes it: [K, d, d]."""
        return np.ascontiguousarray(self.beta_cov[..., :-1].mT)

    def risk(self, model: OneLayer) -> np.ndarray:
        """The risk of every seed, [seeds]."""
        return one_layer.risk(self, model)

    def risk_and_gradient(self, model: OneLayer) -> tuple[np.ndarray, OneLayer]:
        """The risk of every seed, and its gradient with respect to A₁, a_k and p_k."""
        return one_layer.risk_and_gradient(self, model)

    def centred(self) -> GaussianMoments:
        """Moments of S − E[S | k] and β − E[β | k], which task prompts leave."""
        return self._less(self.gram, self.beta)

    def centred_together(self) -> GaussianMoments:
        """Moments of S − E[S] and β − E[β], which one prompt for all tasks leaves."""
        gram, beta = (np.tensordot(self.weights, mean, 1) for mean in (self.gram, self.beta))
        return self._less(gram, beta)

    def _less(self, gram: np.ndarray, beta: np.ndarray) -> GaussianMoments:
        """Moments of S and β less these constants, of each task or of all."""
        left = self.beta - beta
        before, after = (by_sigma_x(self, b[..., None])[..., 0] * b for b in (self.beta, left))
        power = self.label_power + float(self.weights @ (after - before).sum(-1))
        return replace(self, gram=self.gram - gram, beta=left, label_power=power)

    def features(self, readouts: np.ndarray, prompts: np.ndarray | None) -> Features:
        n, weights, parts = self.n, self.weights[:, None, None], self._parts(readouts, prompts)
        last, twice = parts.last, n * n + n
        outer = _combined(twice * weights * last**2, self.label_cov)
        outer += _combined(n * weights * parts.inner, self.omega)
        scaled = [np.sqrt(n * weights) * parts.token, np.sqrt(weights) * parts.mean]
        by_seed = np.concatenate(scaled).swapaxes(0, 1)
        outer += by_seed.mT @ by_seed
        cross = last * (2 * parts.cov_b + last * self.label_cov[:, None, -1])  # Cl
        edge = (weights * (twice * last * parts.cov_b + n * cross)).sum(0)
        outer[:, -1] += edge
        outer[:, :, -1] += edge
        corner = twice * _along_x(parts.readouts, parts.cov_b) - n * cross[..., -1]
        outer[:, -1, -1] += self.weights @ corner

        beta = _combined(n * weights * last, self.beta_cov)
        beta += self.beta.T @ (weights * parts.mean).swapaxes(0, 1)
        beta[..., -1] += (n * weights * (parts.readouts[..., :-1] @ self.slope_cov)).sum(0)
        return Features(outer, beta, parts)

    def pull(
        self, model: OneLayer, found: Features, form: np.ndarray, weighted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        n, weights, parts = self.n, 2 * self.weights[:, None, None], found.kept
        readouts, last = parts.readouts, parts.last
        row, corner = form[:, -1] @ self.label_cov, form[:, -1, -1:]  # CBe, eᵀBe
        quadratic = last * row + corner * parts.cov_b
        quadratic[..., -1] = last[..., 0] * _products(self.label_cov, form)
        quadratic[..., -1] += _along_x(row, readouts)
        slope = 2 * row - corner * self.label_cov[:, None, -1]
        by_seed = np.concatenate([parts.token, parts.mean]).swapaxes(0, 1)
        form_token, form_mean = np.split((by_seed @ form).swapaxes(0, 1), 2)
        linear = form_token @ self.omega + last * slope
        linear += _products(self.omega, form)[..., None] * parts.token
        linear[..., -1] += _along_x(slope, readouts)
        linear -= weighted[..., -1] @ self.beta_cov
        linear[..., -1] -= _products(self.beta_cov[..., :-1], weighted[..., :-1])
        pull = form_mean - (self.beta @ weighted).swapaxes(0, 1)
        grad = (n * n + n) * quadratic + n * linear + pull @ self.gram
        grad_prompts = None
        if model.prompts is not None:
            along = (model.prompts * pull).sum(-1, keepdims=True)
            grad += along * model.prompts
            grad_prompts = weights * (parts.overlap * pull + along * readouts)
        grad *= weights
        return grad if len(model.readouts) > 1 else grad.sum(0, keepdims=True), grad_prompts

    def best_readouts(self, scores: np.ndarray) -> np.ndarray:
        """The readout of every task with the least risk for given A₁, without prompts, [K, 1, D]:
        E[SBS | k]a_k = E[SA₁ᵀΣxβ | k] with B = A₁ᵀΣxA₁."""
        weighted = by_sigma_x(self, scores)
        form = scores.mT @ weighted
        size = form.shape[-1]
        units = np.broadcast_to(np.eye(size), (len(self.weights), size, size))  # a seed each
        forms, zeros = (np.broadcast_to(m, (size, *m.shape[1:])) for m in (form, 0 * weighted))
        model = OneLayer(zeros, units, None)
        squares = self.pull(model, self.features(units, None), forms, zeros)[0]
        nothing = OneLayer(scores, 0 * units[:, :1], None)
        right = self.pull(nothing, self.features(nothing.readouts, None), form, weighted)[0]
        return np.linalg.solve(squares, -right.mT).mT

    def _parts(self, readouts: np.ndarray, prompts: np.ndarray | None) -> _Parts:
        readouts = np.broadcast_to(readouts, (len(self.weights), *readouts.shape[1:]))
        last, token = readouts[..., -1:], readouts @ self.omega
        cov_b = readouts @ self.label_cov - last * self.label_cov[:, None, -1]
        mean, overlap = readouts @ self.gram, None
        if prompts is not None:
            overlap = (prompts * readouts).sum(-1, keepdims=True)
            mean = mean + overlap * prompts
        inner = (readouts * token).sum(-1, keepdims=True)
        return _Parts(readouts, last, token, inner, cov_b, mean, overlap)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Products with readouts and prompts: [K, seeds, D], or 1 for D."""

    readouts: np.ndarray
    last: np.ndarray  # α
    token: np.ndarray  # E[Ω]a
    inner: np.ndarray  # aᵀE[Ω]a
    cov_b: np.ndarray  # Cb
    mean: np.ndarray  # E[φ]
    overlap: np.ndarray | None  # pᵀa


def population_moments(mix: TaskMixture, n: int, scale: float = 1.0) -> GaussianMoments:
    """Moments of a mixture, with S times a scale."""
    omega, beta_cov, label_cov = label_moments(mix)
    return GaussianMoments(
        n, mix.weights, scale * omega, scale * beta_cov, scale**2 * label_cov, n * scale * omega,
        mix.means, mix.label_power, unless_identity(mix.sigma_x),
    )  # fmt: skip


def label_moments(mix: TaskMixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E[Ω], Cov(β, v) and Cov(v) of every task: [K, D, D], [K, d, D], [K, D, D]."""
    sx, found = mix.sigma_x, []
    for mu, cov in zip(mix.means, mix.covs, strict=True):
        power = np.trace(sx @ (cov + np.outer(mu, mu))) + mix.noise_var  # E[r]
        omega = np.block([[sx, (sx @ mu)[:, None]], [(sx @ mu)[None], np.array([[power]])]])
        beta_power = 2 * cov @ sx @ mu  # Cov(β, r)
        power_var = 2 * np.trace(sx @ cov @ sx @ cov) + 4 * mu @ sx @ cov @ sx @ mu  # Var(r)
        beta_cov = np.hstack([cov @ sx, beta_power[:, None]])
        label_cov = np.vstack([sx @ beta_cov, np.append(sx @ beta_power, power_var)])
        found.append((omega, beta_cov, label_cov))
    omega, beta_cov, label_cov = (np.stack(part) for part in zip(*found, strict=True))
    return omega, beta_cov, label_cov


def _combined(numbers: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Σ_k of a number per task and seed, [K, seeds, 1], times a matrix per task."""
    flat = numbers[..., 0].T @ matrices.reshape(len(matrices), -1)
    return flat.reshape(-1, *matrices.shape[1:])


def _products(matrices: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Inner products of a matrix per task and one per seed: [K, seeds]."""
    return matrices.reshape(len(matrices), -1) @ others.reshape(len(others), -1).T


def _along_x(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Inner products without the last entry: [K, seeds]."""
    return (one[..., :-1] * other[..., :-1]).sum(-1)
