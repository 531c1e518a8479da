"""From runs to risks: the best seed of every curve point."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..models.curve import Curve
from ..problem.mixture import TaskMixture
from ..tables import POINT

NO_SEED = -1


def label_power(spec: str) -> float:
    """E[y²], by which risks are divided: of the data, if the spec is made from data, else of the
    mixture."""
    table = json.loads(spec).get("table", {})
    return table.get("label_power") or TaskMixture.from_json(spec).label_power


def seed_minimum(runs: pd.DataFrame, power: float) -> list[dict[str, Any]]:
    """A row per (n, model, layers, arm): the risk of the seed with the least selection risk, and
    that risk over `power`, E[y²].

    Diverged seeds and those stopped by halving are counted and left out. If none is left, the risk
    is missing.
    """
    duplicated = runs.duplicated([*POINT, "seed"])
    if duplicated.any():
        raise ValueError(
            f"seed trained twice: {runs[duplicated].iloc[0][[*POINT, 'seed']].to_dict()}"
        )
    return [
        {**dict(zip(POINT, key, strict=True)), **_summary(group, power)}
        for key, group in runs.groupby(list(POINT), sort=True)
    ]


def _summary(group: pd.DataFrame, power: float) -> dict[str, float | int]:
    ok = group[group.status == "ok"].sort_values("seed")
    best = ok.loc[ok.selection_risk.idxmin()] if len(ok) else None
    names = ("risk", "risk_se", "tail_share", "descent_left")
    risk, error, tail, left = [math.nan if best is None else best[name] for name in names]
    return {
        "risk": risk,
        "risk_se": error,
        "normalized": risk / power,
        "best_seed": NO_SEED if best is None else best.seed,
        "median": ok.risk.median(),
        "seeds_ok": len(ok),
        "seeds_total": len(group),
        "normalized_se": error / power,
        "tail_share": tail,
        "seeds_stopped": int((group.status == "stopped").sum()),
        "descent_left": left,
    }


def best_parameters(parameters: pd.DataFrame, risks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parameters of the best seed of every point, selected from those of all blocks."""
    best = {tuple(row[key] for key in POINT): row["best_seed"] for row in risks}
    return [
        row
        for row in parameters.to_dict("records")
        if best[tuple(row[key] for key in POINT)] == row["seed"]
    ]


def read_parameters(
    table: pd.DataFrame, members: Sequence[Curve]
) -> dict[int, dict[Curve, dict[str, np.ndarray]]]:
    """Parameters by n, curve and name."""
    known = {tuple(member.point.values()): member for member in members}
    found: dict[int, dict[Curve, dict[str, np.ndarray]]] = {}
    for row in table.itertuples():
        member = known.get((row.setting, row.model, row.layers, row.arm))
        if member:
            values = np.array(row.values, dtype=float).reshape(tuple(row.shape))
            found.setdefault(row.n, {}).setdefault(member, {})[row.name] = values
    return found
