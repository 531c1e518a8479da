"""From runs to risks: the best seed of every curve point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..problem.mixture import TaskMixture
from ..tables import POINT, WELL_ABOVE

NO_SEED = -1


def label_power(spec: str) -> float:
    """E[y²], by which risks are divided: of the data, if the spec is made from data, else of the
    mixture."""
    table = json.loads(spec).get("table", {})
    return table.get("label_power") or TaskMixture.from_json(spec).label_power


def seed_minimum(
    runs: pd.DataFrame, power: float, optimum: Mapping[tuple, float]
) -> list[dict[str, Any]]:
    """A row per (n, model, layers, arm): the risk of the seed with the least selection risk; that
    risk over `power`, E[y²]; and over the `optimum` of (model, n, arm), where it is known.

    Diverged seeds and those stopped by halving are counted and left out. If none is left, the risk
    is missing.
    """
    duplicated = runs.duplicated([*POINT, "seed"])
    if duplicated.any():
        raise ValueError(
            f"seed trained twice: {runs[duplicated].iloc[0][[*POINT, 'seed']].to_dict()}"
        )
    return [
        _row(dict(zip(POINT, key, strict=True)), group, power, optimum)
        for key, group in runs.groupby(list(POINT), sort=True)
    ]


def least_risks(theory: pd.DataFrame, curves: Mapping[str, str]) -> dict[tuple, float]:
    """The optimum of every (model, n, arm): `curves` names the computed curve of each model."""
    return {
        (model, row.n, row.arm): row.risk
        for model, curve in curves.items()
        for row in theory[theory.curve == curve].itertuples()
    }


def warnings(risks: Sequence[Mapping[str, Any]], remedy: str) -> list[str]:
    """A line for every curve whose best seeds are well above the optimum, with what can be done."""
    high: dict[tuple, list[Mapping[str, Any]]] = {}
    for row in risks:
        if row["above_optimum"] > WELL_ABOVE:
            high.setdefault((row["setting"], row["model"], row["arm"]), []).append(row)
    lines = []
    for (setting, model, arm), rows in high.items():
        worst = max(row["above_optimum"] for row in rows)
        lengths = ", ".join(str(row["n"]) for row in rows)
        seeds = rows[0]["seeds_total"]
        lines.append(
            f"{setting}: the best of {seeds} seeds of {model}, {arm}, is up to {worst:.1%} above"
            f" the optimum (n = {lengths}); {remedy}"
        )
    return lines


def _row(
    point: dict[str, Any], group: pd.DataFrame, power: float, optimum: Mapping[tuple, float]
) -> dict[str, Any]:
    summary = _summary(group, power)
    least = optimum.get((point["model"], point["n"], point["arm"]))
    above = summary["risk"] / least - 1 if least and point["layers"] == 1 else float("nan")
    return {**point, **summary, "above_optimum": above}


def _summary(group: pd.DataFrame, power: float) -> dict[str, float | int]:
    ok = group[group.status == "ok"].sort_values("seed")
    best = ok.loc[ok.selection_risk.idxmin()] if len(ok) else None
    risk, error = (float("nan"),) * 2 if best is None else (best.risk, best.risk_se)
    return {
        "risk": risk,
        "risk_se": error,
        "normalized": risk / power,
        "best_seed": NO_SEED if best is None else best.seed,
        "median": ok.risk.median(),
        "seeds_ok": len(ok),
        "seeds_total": len(group),
        "normalized_se": error / power,
        "tail_share": float("nan") if best is None else best.tail_share,
        "seeds_stopped": int((group.status == "stopped").sum()),
    }


def best_parameters(parameters: pd.DataFrame, risks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parameters of the best seed of every point, selected from those of all blocks."""
    best = {tuple(row[key] for key in POINT): row["best_seed"] for row in risks}
    return [
        row
        for row in parameters.to_dict("records")
        if best[tuple(row[key] for key in POINT)] == row["seed"]
    ]
