"""Best seeds that are well above the optimum, where theory knows it: a warning and small print."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from ..models.arms import ARMS

WELL_ABOVE = 0.005  # of the optimum
CURVE = ["setting", "model", "layers", "arm"]


def above_optimum(
    risks: pd.DataFrame, theory: pd.DataFrame, optimum: Mapping[str, str], drawn: Collection[str]
) -> pd.DataFrame:
    """The drawn risks that are well above the optimum, with `above`, as a share of it.

    `optimum` names the computed curve that no seed of a model can be below; `drawn` are curves, as
    "setting model layers arm".
    """
    if risks.empty or theory.empty or not optimum:  # nothing to compare, in tables without types
        return risks.iloc[:0].assign(above=0.0)
    curves = pd.Series(optimum, name="curve", dtype=object).rename_axis("model").reset_index()
    known = theory.merge(curves, on="curve").assign(layers=1)
    point = [*CURVE, "n"]
    both = risks.merge(known[[*point, "risk"]], on=point, suffixes=("", "_least"))
    both["above"] = both.risk / both.risk_least - 1
    names = both[CURVE].astype(str).agg(" ".join, axis=1)
    return both[names.isin(drawn) & (both.above > WELL_ABOVE)]


def small_print(high: pd.DataFrame) -> str:
    """The largest excess and its arms, to follow the protocol's small print; empty if all are
    near."""
    if high.empty:
        return ""
    arms = ", ".join(entry.label for arm, entry in ARMS.items() if arm in set(high.arm))
    return f"; best seeds up to {high.above.max():.1%} above the optimum ({arms})"


def warnings(high: pd.DataFrame, remedy: str) -> list[str]:
    """A line for every curve, with its n and the remedy."""
    lines = []
    for (setting, model, _, arm), rows in high.groupby(CURVE, sort=False):
        lengths = ", ".join(map(str, sorted(rows.n)))
        lines.append(
            f"{setting}: the best of {rows.seeds_total.max()} seeds of {model}, {arm}, is up to"
            f" {rows.above.max():.1%} above the optimum (n = {lengths}); {remedy}"
        )
    return lines
