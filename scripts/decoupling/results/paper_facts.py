"""What the paper's own protocol reaches: beside the exact gradient, and with more layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..models.arms import ARMS
from ..tables import POINT
from .kept import Kept, arms_in_order, span
from .scoreboard import deviations


def protocols(
    kept: Kept, curves: Mapping[str, pd.Series], published: pd.DataFrame
) -> list[dict[str, Any]]:
    """Where the paper's protocol was run on one layer: its risk, the exact gradient's and the
    authors'."""
    exact = kept.exact.set_index(list(POINT)).risk
    authors = published.set_index(list(POINT)).risk
    one_layer = kept.paper[kept.paper.layers == 1]
    rows = one_layer.sort_values(["setting", "model", "arm", "n"], key=arms_in_order)
    found = []
    for point in rows.itertuples():
        key = (point.setting, point.n, point.model, point.layers, point.arm)
        theorem = curves["theorem"][point.setting, point.n, point.arm]
        found.append(
            {
                "setting": point.setting,
                "model": point.model,
                "arm": point.arm,
                "n": point.n,
                "paper": point.risk,
                "exact": exact[key],
                "change": point.risk / exact[key] - 1,
                "theorem": theorem,
                "published": authors.get(key),
            }
        )
    return found


def by_curve(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of every curve of `protocols` what batches change, and how far from the theorem they and the
    authors are; None where these published nothing."""
    found = []
    for key, points in pd.DataFrame(rows).groupby(["setting", "model", "arm"], sort=False):
        published = (points.published / points.theorem - 1).dropna()
        found.append(
            dict(zip(("setting", "model", "arm"), key, strict=True))
            | {
                "points": len(points),
                "change": span(points.change),
                "paper": span(points.paper / points.theorem - 1),
                "published": span(published) if len(published) else None,
            }
        )
    return found


def most_changed(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of every arm the point that batches change most."""
    by_size = sorted(rows, key=lambda row: -abs(row["change"]))
    most = {row["arm"]: row for row in reversed(by_size)}
    return [most[arm] for arm in ARMS if arm in most]


def paper_deep(kept: Kept) -> list[dict[str, Any]]:
    """Where it was run on more layers: its risk beside `laptop`'s, and how many seeds came to the
    end."""
    laptop = kept.laptop.set_index(list(POINT))
    found = []
    for row in kept.paper[kept.paper.layers > 1].sort_values(["layers", "n", "arm"]).itertuples():
        other = laptop.loc[(row.setting, row.n, row.model, row.layers, row.arm)]
        found.append(
            {
                "setting": row.setting,
                "layers": row.layers,
                "n": row.n,
                "arm": row.arm,
                "paper": row.normalized,
                "paper_se": row.normalized_se,
                "median": row.median / row.risk * row.normalized,
                "ok": row.seeds_ok,
                "laptop": other.normalized,
                "laptop_se": other.normalized_se,
                "laptop_median": other["median"] / other.risk * other.normalized,
                "change": row.normalized / other.normalized - 1,
            }
        )
    return found


def deep_apart(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How far the best seeds of `paper_deep` are above `laptop`'s, `furthest` the point at which it
    is most; median seeds above the best, of both; and what is above the same with a layer less."""
    table = pd.DataFrame(rows)
    risk = table.set_index(["layers", "n", "arm"]).paper
    return {
        "change": span(table.change),
        "above": int((table.change > 0).sum()),
        "median": span(table["median"] / table.paper - 1),
        "laptop_median": span(table.laptop_median / table.laptop - 1),
        "furthest": max(rows, key=lambda row: row["change"]),
        "reversed": [
            row
            for row in rows
            if row["paper"] > risk.get((row["layers"] - 1, row["n"], row["arm"]), np.inf)
        ],
    }


def deep_minutes(kept: Kept) -> list[dict[str, Any]]:
    """Core-minutes of a (setting, n) of more layers by both protocols, where they have the same
    arms."""
    laptop = kept.costs["laptop"].set_index(["setting", "n"]).core_minutes
    deep = {*kept.paper[kept.paper.layers > 1].setting}
    return [
        {"setting": setting, "n": n, "paper": minutes, "laptop": laptop[setting, n]}
        for (setting, n), minutes in whole_jobs(kept).items()
        if setting in deep
    ]


def whole_jobs(kept: Kept) -> dict[tuple[str, int], float]:
    """Core-minutes at `paper` by (setting, n), of jobs that have all that `laptop`'s have."""
    minutes = kept.costs["paper"].set_index(["setting", "n"]).core_minutes
    trained = [
        table.assign(curve=table.model + table.arm).groupby(["setting", "n"]).curve.agg(set)
        for table in (kept.laptop, kept.paper)
    ]
    laptop, paper = trained
    return {
        point: float(minutes[point])
        for point, curves in paper.items()
        if curves == laptop.get(point) and point in minutes
    }


def batch_cost(kept: Kept) -> pd.Series:
    """`paper` against `exact`, which differ in the gradient only."""
    return deviations(
        kept.paper.set_index(list(POINT)).risk, kept.exact.set_index(list(POINT)).risk
    )
