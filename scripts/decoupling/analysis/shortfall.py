"""Best seeds whose risk training has left too high, for warnings and small print: well above the
optimum, above where a further search ends, or above a model that they contain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..models.arms import ARMS
from ..tables import BOUND_ERRORS, CURVE

WELL_ABOVE = 0.005  # of the optimum
OPTIMUM = "the optimum"
FURTHER = "where a further search ends"
CONTAINED = "a model that they contain"


def shortfalls(
    tables: Mapping[str, pd.DataFrame], held_to: Mapping[str, Any], drawn: Collection[str]
) -> dict[str, pd.DataFrame]:
    """Rows of a figure's tables whose risk is too high, keyed by the reference that they exceed.
    `drawn` are curves, as "setting model layers arm"; `held_to` is that of `plan.drawing`."""
    risks, real = tables["risks"], tables["real"].rename(columns={"seeds": "seeds_total"})
    high = above_optimum(risks, tables["theory"], held_to["optimum"], drawn)
    further = [unfinished(table, drawn) for table in (risks, real)]
    point = [*CURVE, "n"]
    known = high.set_index(point).index
    return {
        OPTIMUM: high,
        FURTHER: pd.concat(t[~t.set_index(point).index.isin(known)] for t in further),
        CONTAINED: above_bounds(risks, held_to["bounds"]),
    }


def above_optimum(
    risks: pd.DataFrame, theory: pd.DataFrame, optimum: Mapping[str, str], drawn: Collection[str]
) -> pd.DataFrame:
    """The drawn risks that are well above the optimum, with `above`, as a share of it.

    `optimum` names the computed curve that no seed of a model can be below.
    """
    if risks.empty or theory.empty or not optimum:  # nothing to compare, in tables without types
        return _none(risks)
    curves = pd.Series(optimum, name="curve", dtype=object).rename_axis("model").reset_index()
    known = theory.merge(curves, on="curve").assign(layers=1)
    point = [*CURVE, "n"]
    both = risks.merge(known[[*point, "risk"]], on=point, suffixes=("", "_least"))
    both = both.assign(above=both.risk / both.risk_least - 1, bound=OPTIMUM)
    return both[_names(both).isin(drawn) & (both.above > WELL_ABOVE)]


def unfinished(risks: pd.DataFrame, drawn: Collection[str]) -> pd.DataFrame:
    """The drawn risks that a further search lowers well, with `above`, as a share of where it
    ends."""
    left = risks.descent_left.astype(float)
    found = risks.assign(above=left / (1 - left), bound=FURTHER)
    return found[_names(risks).isin(drawn) & (found.above > WELL_ABOVE)]


def above_bounds(risks: pd.DataFrame, bounds: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """The risks that are above a bound by more than three standard errors, with `above`, as a share
    of it. A bound holds `curve` to `other`, both of these risks. The errors of the two are combined
    as if independent, so that `analysis.bounds` finds these risks too."""
    names, found = _names(risks), [_none(risks)]
    for pair in bounds:
        own = risks[names == pair["curve"]]
        other = risks.loc[names == pair["other"], ["n", "risk", "risk_se"]]
        both = own.merge(other, on="n", suffixes=("", "_least"))
        error = np.hypot(both.risk_se, both.risk_se_least)
        high = both[both.risk - both.risk_least > BOUND_ERRORS * error]
        found.append(high.assign(above=high.risk / high.risk_least - 1, bound=pair["bound"]))
    return pd.concat([table for table in found if len(table)] or found[:1], ignore_index=True)


def small_print(found: Mapping[str, pd.DataFrame]) -> str:
    """A continuation of the small print: the largest excess, and the arms that have one; empty if
    none has."""
    return "".join(
        f"; best seeds up to {rows.above.max():.1%} above {what} ({_arms(rows)})"
        for what, rows in found.items()
        if len(rows)
    )


def warnings(found: Mapping[str, pd.DataFrame], remedies: Mapping[str, str]) -> Iterator[str]:
    """A line for every curve and bound, with its n and what can be done."""
    for what, table in found.items():
        remedy = remedies["bound" if what == CONTAINED else "optimum"]
        curves = table.groupby([*CURVE, "bound"], sort=False)
        for (setting, model, layers, arm, bound), rows in curves:
            lengths = ", ".join(map(str, sorted(rows.n)))
            depth = f" of {layers} layers" if layers > 1 else ""
            yield (
                f"{setting}: the best of {rows.seeds_total.max()} seeds of {model}{depth}, {arm},"
                f" is up to {rows.above.max():.1%} above {bound} (n = {lengths}); {remedy}"
            )


def _names(risks: pd.DataFrame) -> pd.Series:
    return risks[[*CURVE]].astype(str).agg(" ".join, axis=1) if len(risks) else pd.Series(dtype=str)


def _none(risks: pd.DataFrame) -> pd.DataFrame:
    return risks.iloc[:0].assign(above=0.0, bound="")


def _arms(found: pd.DataFrame) -> str:
    return ", ".join(entry.label for arm, entry in ARMS.items() if arm in set(found.arm))
