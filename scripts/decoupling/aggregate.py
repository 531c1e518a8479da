"""From runs to risks: the best seed of every curve point."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from .results import CURVE_KEY
from .spec import TaskMixture

NO_SEED = -1


def seed_minimum(runs: Iterable[pd.DataFrame], mix: TaskMixture) -> pd.DataFrame:
    """A row per (n, model, layers, arm): the risk of the seed with the least selection risk.

    Diverged seeds are counted and left out; where all diverged, the risk is missing.
    """
    table = pd.concat(runs, ignore_index=True)
    keys = [name for name, _ in CURVE_KEY]
    duplicated = table.duplicated([*keys, "seed"])
    if duplicated.any():
        raise ValueError(
            f"seed trained twice: {table[duplicated].iloc[0][[*keys, 'seed']].to_dict()}"
        )
    rows = [
        {**dict(zip(keys, key, strict=True)), **_summary(group, mix.label_power)}
        for key, group in table.groupby(keys, sort=True)
    ]
    return pd.DataFrame(rows)


def _summary(group: pd.DataFrame, label_power: float) -> dict[str, float | int]:
    ok = group[group.status == "ok"].sort_values("seed")
    best = ok.loc[ok.selection_risk.idxmin()] if len(ok) else None
    risk = float("nan") if best is None else best.risk
    return {
        "risk": risk,
        "risk_se": float("nan") if best is None else best.risk_se,
        "normalized": risk / label_power,
        "best_seed": NO_SEED if best is None else best.seed,
        "median": ok.risk.median(),
        "seeds_ok": len(ok),
        "seeds_total": len(group),
    }
