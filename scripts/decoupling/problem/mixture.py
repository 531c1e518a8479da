"""Task mixtures: a setting's tasks, as numbers.

Task k is drawn with probability π_k; β ~ N(μ_k, Σ_k), x ~ N(0, Σx) and
y = xᵀβ + ξ with ξ ~ N(0, σ²).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class TaskMixture:
    """K tasks in dimension d, with every number that the config may leave out."""

    name: str
    weights: np.ndarray  # π, [K]
    means: np.ndarray  # μ, [K, d]
    covs: np.ndarray  # Σ_k, [K, d, d]
    sigma_x: np.ndarray  # Σx, [d, d]
    noise_var: float  # σ²

    @property
    def dim(self) -> int:
        return self.means.shape[1]

    @property
    def tasks(self) -> int:
        return self.means.shape[0]

    @property
    def debiased_cov(self) -> np.ndarray:
        """S̄ = Σ_k π_k Σ_k."""
        return np.einsum("k,kij->ij", self.weights, self.covs)

    @property
    def mean_outer(self) -> np.ndarray:
        """M = Σ_k π_k μ_k μ_kᵀ."""
        return np.einsum("k,ki,kj->ij", self.weights, self.means, self.means)

    @property
    def biased_cov(self) -> np.ndarray:
        """S̃ = S̄ + M."""
        return self.debiased_cov + self.mean_outer

    @property
    def label_power(self) -> float:
        """E[y²] = tr(Σx S̃) + σ²."""
        return float(np.trace(self.sigma_x @ self.biased_cov) + self.noise_var)

    @property
    def common_mean(self) -> np.ndarray:
        """μ̄ = Σ_k π_k μ_k."""
        return self.weights @ self.means

    def scaled_means(self, scale: float) -> TaskMixture:
        """The same mixture with every μ_k multiplied by `scale`."""
        return replace(self, means=scale * self.means)

    def centred(self) -> TaskMixture:
        """The same mixture with μ_k − μ̄ for μ_k."""
        return replace(self, means=self.means - self.common_mean)

    def merged(self) -> TaskMixture:
        """One task with the mixture's mean μ̄ and covariance S̄ + Σ_k π_k (μ_k − μ̄)(μ_k − μ̄)ᵀ."""
        cov = self.centred().biased_cov
        return replace(self, weights=np.ones(1), means=self.common_mean[None], covs=cov[None])

    def to_json(self) -> str:
        fields = {
            "name": self.name,
            "d": self.dim,
            "K": self.tasks,
            "weights": self.weights.tolist(),
            "means": self.means.tolist(),
            "covs": self.covs.tolist(),
            "sigma_x": self.sigma_x.tolist(),
            "noise_var": self.noise_var,
        }
        return json.dumps(fields, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TaskMixture:
        fields = json.loads(text)
        return cls(
            fields["name"],
            *(np.array(fields[key], dtype=float) for key in ("weights", "means", "covs")),
            np.array(fields["sigma_x"], dtype=float),
            float(fields["noise_var"]),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the numbers, without the name; random streams depend on it."""
        found = hashlib.sha256()
        for numbers in (self.weights, self.means, self.covs, self.sigma_x, [self.noise_var]):
            array = np.asarray(numbers, dtype="<f8") + 0.0  # no negative zeros
            found.update(f"{array.shape}".encode() + array.tobytes())
        return found.hexdigest()
