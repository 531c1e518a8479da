"""Joint training without Assumption 1, closed form: the query also reads the label energy Σ_j y_j².

Assumption 1 sets to 0 the x-part of the readout and the last column of A₁. The x-part can
subtract the common mean μ̄, as in `theorems.joint_centred`. The last column lets the query use the
context's label energy, which depends on β's length along its mean. Here A₁ is free, and the readout
is the one that subtracts μ̄; below, means are without it.

With a = e_D the features are φ = Sa = [Xᵀy; yᵀy]. Given β, S is Wishart(n, Ω) and Ωa = v = [Σxβ; r]
with r = βᵀΣxβ + σ², so that E[φ | β] = nv and E[φφᵀ | β] = (n² + n)vvᵀ + nrΩ. Ω is affine in v,
whose entries are its last row and column. So of task k, with m = E[v], C = Cov(v) and P the matrix
that has Ce_D as its last row and column and 0 elsewhere:

    E[φφᵀ] = (n² + n)(mmᵀ + C) + n(m_D E[Ω] + P),    E[βφᵀ] = n(μmᵀ + Cov(β, v)).

A prompt [q̄; 1] adds itself to φ, so it removes a bias exactly: of its task or, where all tasks
share it, of the mixture. What is left is a linear regression of β on φ. With F and G the second
moments of φ and of β with φ, and B that of β, all without what prompts remove, A₁ = GF⁻¹ and
risk = tr(ΣxB) + σ² − tr(ΣxGF⁻¹Gᵀ). It costs O(Kd³), without the fourth moments of S.

For this readout the risk is minimal. Another x-part of the readout can be slightly better.
"""

from __future__ import annotations

import numpy as np

from ..problem.gaussian_moments import label_moments
from ..problem.mixture import TaskMixture
from .solution import Solution


def joint_energy(mix: TaskMixture, n: int) -> Solution:
    """Task prompts: F = Σ_k π_k[n mmᵀ + (n² + n)C + n(m_D E[Ω] + P)], G = Σ_k π_k n Cov(β, v)."""
    return _regression(mix, n, np.eye(mix.tasks))


def shared_energy(mix: TaskMixture, n: int) -> Solution:
    """One prompt for all tasks: differences between their means remain in F and G."""
    return _regression(mix, n, np.tile(mix.weights, (mix.tasks, 1)))


def _regression(mix: TaskMixture, n: int, prompted: np.ndarray) -> Solution:
    """Row k of `prompted` has the weights of the tasks whose bias prompt k removes: [K, K]."""
    centred, sx = mix.centred(), mix.sigma_x
    omega, beta_cov, label_cov = label_moments(centred)
    labels = omega[:, :, -1]  # m
    left, left_means = (values - prompted @ values for values in (labels, centred.means))
    outer = n * _outer(labels, labels) + (n * n + n) * label_cov + n * n * _outer(left, left)
    outer += n * (labels[:, -1, None, None] * omega + _bordered(label_cov[:, -1]))
    cross = n * (beta_cov + _outer(left_means, left))
    outer, cross = (np.einsum("k,kij->ij", mix.weights, array) for array in (outer, cross))
    scores = _regress(cross, outer)
    power = np.trace(sx @ mix.debiased_cov) + mix.noise_var
    power += mix.weights @ ((left_means @ sx) * left_means).sum(1)
    risk = max(float(power - np.trace(sx @ scores @ cross.T)), mix.noise_var)
    wanted = prompted @ mix.means - n * prompted @ labels @ scores.T
    return _with_common_mean(risk, scores, wanted, mix.common_mean)


def _regress(cross: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """GF⁻¹. F is positive definite as long as the Σ_k are, also for n = 1 and without noise; but
    y² and xy have different units, so it is brought to a unit diagonal before it is inverted."""
    scale = np.sqrt(np.diag(outer))
    return np.linalg.solve(outer / np.outer(scale, scale), (cross / scale).T).T / scale


def _with_common_mean(
    risk: float, scores: np.ndarray, wanted: np.ndarray, common: np.ndarray
) -> Solution:
    """Parameters for A₁ = [W w] of the centred mixture, with prompts q = [q̄; 1], A₁q = `wanted`.

    The readout [−s; 1], s = μ̄, makes [Xᵀỹ; yᵀỹ] of the context with ỹ = y − xᵀs, and ỹᵀỹ is the
    last of these less sᵀXᵀỹ: so A₁ becomes [W − wsᵀ, w], and a prompt [q̄; 1 + sᵀq̄]."""
    weight, energy = scores[:, :-1], scores[:, -1]
    top = np.linalg.solve(weight, (wanted - energy).T).T
    prompts = np.column_stack([top, 1 + top @ common])
    readouts = np.tile(np.append(-common, 1.0), (len(top), 1))
    return Solution(risk, weight - np.outer(energy, common), prompts, readouts, energy)


def _outer(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """[K, …] times [K, …], task by task."""
    return left[:, :, None] * right[:, None]


def _bordered(vectors: np.ndarray) -> np.ndarray:
    """Matrices with these as last row and column and 0 elsewhere: [K, D] to [K, D, D]."""
    made = np.zeros((*vectors.shape, vectors.shape[1]))
    made[:, -1], made[:, :, -1] = vectors, vectors
    return made
