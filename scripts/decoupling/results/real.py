"""All folds of a table together: held-out risks with standard errors, beside what theory predicts.

Every unit is held out once. Standard errors are by bootstrap over clusters of units (`fold_by`):
what stays in one fold is drawn together. All predictors and n share the draws, so that differences
between them are paired.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem.mixture import TaskMixture
from .tables import BASELINE

if TYPE_CHECKING:
    import pandas as pd

REDUCED = "reduced"  # the model that the theorems are of
GATE = 0.1  # E[y²] as predicted may be so far from measured
DRAWS = 2000
SEED = 2503
CURVES = ("theorem", "measured", "independent")  # what theory predicts
BEFORE = {  # what a gain is over: an arm of the same model, or a baseline
    "gain": (None, "plain"),
    "over_shared": (None, "shared"),
    "over_mean": (BASELINE, "group_mean"),  # which sees no context
}


def real_rows(
    setting: str,
    held_out: pd.DataFrame,
    theory: pd.DataFrame,
    runs: pd.DataFrame,
    specs: Sequence[str],
) -> list[dict[str, Any]]:
    """A row per predictor and n. `runs` are the folds' risks on training units, `specs` texts."""
    points, sums, power = _sums(held_out)
    ratios = _bootstrap(sums, power)  # [draws, points]; the first row is of the data itself
    at = {point: i for i, point in enumerate(points)}
    predicted = _predicted(theory, held_out)
    trained = runs.groupby(["n", "model", "layers", "arm"])[["risk", "seeds_total"]].mean()
    common = {"setting": setting, **_about(specs, held_out)}
    rows = []
    for point, place in at.items():
        n, model, layers, arm = point
        own = ratios[:, place]
        row = {**common, "n": n, "model": model, "layers": layers, "arm": arm}
        risk = sums[:, place].sum() / len(held_out[_is(held_out, point)])
        error = own[1:].std(ddof=1)
        row |= {"risk": risk, "risk_se": error * risk / own[0]}
        row |= {"normalized": own[0], "normalized_se": error}
        for name, (other, arm_before) in BEFORE.items():
            base = at.get((n, other or model, layers, arm_before))
            gain = np.full(2, np.nan) if base is None else ratios[:, base] - own
            error = gain[1:].std(ddof=1) if base is not None else np.nan
            row |= {name: gain[0], f"{name}_se": error}
        row |= {curve: predicted.get((curve, n, arm), np.nan) for curve in CURVES}
        known = point in trained.index
        row["training_risk"] = trained.risk[point] if known else np.nan
        row["seeds"] = int(trained.seeds_total[point]) if known else 0
        rows.append(row)
    return rows


def _is(table: pd.DataFrame, point: tuple[int, str, int, str]) -> pd.Series:
    n, model, layers, arm = point
    same = (table.n == n) & (table.model == model) & (table.layers == layers)
    return same & (table.arm == arm)


def _sums(held_out: pd.DataFrame) -> tuple[list[tuple], np.ndarray, np.ndarray]:
    """Points; their squared errors and E[y²], summed over the units of every cluster:
    [clusters, points]."""
    keys = ["n", "model", "layers", "arm"]
    table = held_out.pivot_table(
        index="cluster", columns=keys, values=["risk", "label_power"], aggfunc="sum"
    )
    points = list(table["risk"].columns)
    return points, table["risk"].to_numpy(), table["label_power"][points].to_numpy()


def _bootstrap(sums: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Σ risk / Σ E[y²] of the clusters, and of DRAWS samples of them: [1 + DRAWS, points]."""
    count = len(sums)
    rng = np.random.default_rng([SEED, count])
    weights = rng.multinomial(count, np.full(count, 1 / count), DRAWS)
    weights = np.vstack([np.ones((1, count)), weights])
    return (weights @ sums) / (weights @ power)


def _predicted(theory: pd.DataFrame, held_out: pd.DataFrame) -> dict[tuple[str, int, str], float]:
    """Normalised risks, averaged over folds by the units that each holds out."""
    units = held_out.groupby("setting").apply(lambda t: len(t[["group", "unit"]].drop_duplicates()))
    shares = theory.setting.map(units) * theory.normalized
    weights = theory.setting.map(units)
    keys = [theory.curve, theory.n, theory.arm]
    return (shares.groupby(keys).sum() / weights.groupby(keys).sum()).to_dict()


def _about(specs: Sequence[str], held_out: pd.DataFrame) -> dict[str, Any]:
    """Of the setting: the gate, predicted over measured E[y²], and how many units there are."""
    powers = [TaskMixture.from_json(text).label_power for text in specs]
    tables = [json.loads(text)["table"] for text in specs]
    ratios = [power / own["label_power"] for power, own in zip(powers, tables, strict=True)]
    units = tables[0]["units"]
    return {
        "gate": float(np.mean(ratios)),
        "units": units["kept"],
        "units_total": units["total"],
        "clusters": held_out.cluster.nunique(),
    }


def fails_gate(rows: pd.DataFrame) -> bool:
    """Whether E[y²] of a setting's fitted mixture is far from that of the data."""
    return not abs(rows.gate.iloc[0] - 1) <= GATE


def with_theory(rows: pd.DataFrame, theory_model: str, model: str) -> pd.DataFrame:
    """What the theorems are of: the reduced model's arms; and attention's with heads, which the
    reduced model does not have."""
    heads = (rows.model == model) & (rows.arm == "joint_heads")
    return rows[(rows.model == theory_model) | heads]
