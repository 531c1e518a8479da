"""A task mixture in words."""

from __future__ import annotations

import numpy as np

from ..problem.mixture import TaskMixture


def describe(mix: TaskMixture, noise: bool = True) -> str:
    """The mixture in two lines: d, μ, Σ, π and, unless it varies, σ²."""
    means = _listed([_multiple(mean, np.ones(mix.dim), r"\mathbf{1}") for mean in mix.means], 2)
    base, symbol, where = np.eye(mix.dim), "I", ""
    if not all(_ratio(cov, base) for cov in mix.covs):
        base, symbol = mix.covs[0], r"\Sigma_1"
        entries = np.diag(base)
        if np.array_equal(base, np.diag(entries)):
            symbol = "D"
            where = rf",\ D=\mathrm{{diag}}({entries[0]:.3g},\ldots,{entries[-1]:.3g})"
    covs = _listed([_multiple(cov, base, symbol) for cov in mix.covs], 2)
    weights = _listed([f"{weight:.3g}" for weight in mix.weights], 4)
    sigma_x = "" if np.array_equal(mix.sigma_x, np.eye(mix.dim)) else r",\ \Sigma_x\neq I"
    noise_var = rf",\ \sigma^2={mix.noise_var:.3g}" if noise else ""
    return (
        rf"$d={mix.dim},\ \mu_k={means},\ \Sigma_k={covs},$" + "\n"
        rf"$\pi={weights}{noise_var}{sigma_x}{where}$"
    )


def _listed(words: list[str], most: int) -> str:
    """Joined numbers; the first and the last if they are too many for a title."""
    return ",".join(words if len(words) <= most else [words[0], r"\ldots", words[-1]])


def _ratio(value: np.ndarray, unit: np.ndarray) -> float | None:
    """c where value = c·unit, else None."""
    ratio = (value * unit).sum() / (unit * unit).sum()
    return ratio if np.allclose(value, ratio * unit, rtol=1e-12) else None


def _multiple(value: np.ndarray, unit: np.ndarray, symbol: str) -> str:
    ratio = _ratio(value, unit)
    if ratio is None:
        return r"\ast"
    if ratio == 0:
        return "0"
    times = r"{\cdot}" if "1" in symbol else r"\,"  # 2 𝟏 would read 21
    return symbol if ratio == 1 else rf"{{{ratio:.4g}}}{times}{symbol}"  # no minus between two
