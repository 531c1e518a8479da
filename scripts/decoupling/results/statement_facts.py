"""The numbers of docs/reproduction.md about what the paper states: Theorem 4 as a lower bound,
Corollary 1, the agreement in Appendix D, Figure 2b, and the heads that the authors trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..problem.mixture import TaskMixture
from ..theory.heads import bound, rescaled
from ..theory.optimum import optima
from ..theory.theorems import THEOREMS, joint, joint_heads, plain
from .kept import Kept, span
from .scoreboard import deviations

HEADS = ("heads", "finetune_only_heads", "finetune_heads", "joint_heads")
APPENDIX_D = ("figA1b", "figA1d")  # whose theorems are said to agree perfectly
SMALL = 0.01  # a scale of the means at which gaps have their leading power
EXAMPLE = TaskMixture(  # heads go below Theorem 4, without noise
    "unequal covariances",
    np.array([0.5, 0.5]),
    np.array([[1.0, 1.0], [-1.0, -1.0]]),
    np.stack([np.diag([4, 0.05]), np.eye(2)]),
    np.eye(2),
    0.0,
)
EXAMPLE_N = 10
HALF_A_DIGIT = 0.5e-8  # of the values in data/published/figure_2b.csv


def statement_facts(
    kept: Kept,
    theory: pd.DataFrame,
    specs: Mapping[str, TaskMixture],
    published: pd.DataFrame,
    figure_2b: pd.DataFrame,
) -> dict[str, Any]:
    """What the template names of these."""
    curves = {
        name: rows.set_index(["setting", "n", "arm"]).risk for name, rows in theory.groupby("curve")
    }
    return {
        "heads_example": heads_example(),
        "proof_of_rate": proof_of_rate(specs["fig2c"], 50),
        "power_of_means": power_of_means(specs["fig2c"], 10),
        "size_of_means": size_of_means(specs["fig2a"]),
        "appendix_d": appendix_d(kept.paper, curves["theorem"]),
        "figure_2b": drawn_2b(figure_2b, specs["fig2b"]),
        "heads_published": heads_published(published, curves["optimum"]),
        "heads_trained": heads_trained(kept.laptop, curves["optimum"]),
    }


def heads_example() -> dict[str, float]:
    """At EXAMPLE: Theorem 4, heads that only rescale, the optimum without and with means, and what
    nothing goes below."""
    return {
        "theorem": joint_heads(EXAMPLE, EXAMPLE_N).risk,
        "rescaled": rescaled(EXAMPLE, EXAMPLE_N).risk,
        "without_means": optima(EXAMPLE.scaled_means(0), EXAMPLE_N)["joint_heads"],
        "optimum": optima(EXAMPLE, EXAMPLE_N)["joint_heads"],
        "bound": bound(EXAMPLE, EXAMPLE_N),
    }


def proof_of_rate(mix: TaskMixture, n: int) -> dict[str, float]:
    """finetune − joint, and what Corollary 1's proof has for it: the difference of
    tr S̄ − n tr(WS̄), which is the risk at joint's W alone (Σx = I)."""
    weight, best = plain(mix, n).weight, joint(mix, n)
    cov = mix.debiased_cov
    printed = np.trace(cov) + mix.noise_var - n * np.trace(weight @ cov)
    return {
        "printed": float(printed - best.risk),
        "right": THEOREMS["finetune"](mix, n).risk - best.risk,
    }


def power_of_means(mix: TaskMixture, n: int) -> dict[str, float]:
    """d log gap / d log s of the gaps that Corollary 1 speaks of, for means sμ_k with s = SMALL."""
    scales = SMALL * np.array([0.5, 2.0])
    risks = {
        arm: np.array([THEOREMS[arm](mix.scaled_means(scale), n).risk for scale in scales])
        for arm in ("plain", "finetune", "joint")
    }
    gaps = {
        "finetune": risks["plain"] - risks["finetune"],
        "joint": risks["finetune"] - risks["joint"],
    }
    return {arm: float(np.diff(np.log(gap))[0] / np.log(4)) for arm, gap in gaps.items()}


def size_of_means(mix: TaskMixture) -> dict[str, float]:
    """‖Δ‖_F = ‖ΣxM‖_F, and bounds of it by the largest ‖μ_k‖² and eigenvalue of Σx: the printed one
    with Σπ_k², the right one with Σπ_k = 1."""
    most = (mix.means**2).sum(1).max() * np.linalg.eigvalsh(mix.sigma_x)[-1]
    norm = np.linalg.norm(mix.sigma_x @ mix.mean_outer)
    return {
        "norm": float(norm),
        "printed": float(most * (mix.weights**2).sum()),
        "right": float(most),
    }


def appendix_d(paper: pd.DataFrame, theorem: pd.Series) -> dict[str, dict[str, float]]:
    """How far the paper's protocol ends from the theorems in Figures A1b and A1d."""
    rows = paper[paper.setting.isin(APPENDIX_D) & (paper.layers == 1)]
    found = deviations(rows.set_index(["setting", "n", "arm"]).risk, theorem)
    heads = found.index.get_level_values("arm") == "joint_heads"
    return {"heads": span(found[heads]), "others": span(found[~heads])}


def drawn_2b(drawn: pd.DataFrame, mix: TaskMixture) -> dict[str, Any]:
    """How far the values of the authors' notebook are from (d+1)/(n+d+1) at d = 2 and at the stated
    d, and at which n plain attention is the former, to all digits."""
    found: dict[str, Any] = {}
    for name, dim in (("two", 2), ("stated", mix.dim)):
        found[name] = span(drawn.normalized / ((dim + 1) / (drawn.n + dim + 1)) - 1)
    rows = drawn[(drawn.model == "attention") & (drawn.arm == "plain")]
    found["equal"] = list(rows.n[(rows.normalized - 3 / (rows.n + 3)).abs() < HALF_A_DIGIT])
    return found


def heads_published(published: pd.DataFrame, optimum: pd.Series) -> list[dict[str, Any]]:
    """By arm and setting: how far the authors' task heads end from the optimum of their arm."""
    rows = published[published.arm.isin(HEADS)]
    risks = rows.set_index(["setting", "n", "arm"]).risk
    found = deviations(risks, optimum).groupby(["arm", "setting"])
    spans = {key: span(values) for key, values in found}
    return [
        {"arm": arm, "setting": setting, **spans[arm, setting]}
        for arm in HEADS
        for setting in sorted({name for kind, name in spans if kind == arm})
    ]


def heads_trained(laptop: pd.DataFrame, optimum: pd.Series) -> dict[str, float]:
    """The same of heads alone as trained here; the setting `heads` has fig2d's mixture."""
    rows = laptop[(laptop.setting == "heads") & (laptop.arm == "heads")].assign(setting="fig2d")
    return span(deviations(rows.set_index(["setting", "n", "arm"]).risk, optimum))
