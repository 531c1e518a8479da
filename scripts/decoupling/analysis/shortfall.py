"""Best seeds that training has left too high: well above the optimum, where theory knows it, or
above a model that they contain. A warning and small print."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from ..models.arms import ARMS
from ..tables import BOUND_ERRORS

WELL_ABOVE = 0.005  # of the optimum
CURVE = ["setting", "model", "layers", "arm"]
OPTIMUM = "the optimum"


def above_optimum(
    risks: pd.DataFrame, theory: pd.DataFrame, optimum: Mapping[str, str], drawn: Collection[str]
) -> pd.DataFrame:
    """The drawn risks that are well above the optimum, with `above`, as a share of it.

    `optimum` names the computed curve that no seed of a model can be below; `drawn` are curves, as
    "setting model layers arm".
    """
    if risks.empty or theory.empty or not optimum:  # nothing to compare, in tables without types
        return _none(risks)
    curves = pd.Series(optimum, name="curve", dtype=object).rename_axis("model").reset_index()
    known = theory.merge(curves, on="curve").assign(layers=1)
    point = [*CURVE, "n"]
    both = risks.merge(known[[*point, "risk"]], on=point, suffixes=("", "_least"))
    both = both.assign(above=both.risk / both.risk_least - 1, bound=OPTIMUM)
    return both[_names(both).isin(drawn) & (both.above > WELL_ABOVE)]


def above_bounds(risks: pd.DataFrame, bounds: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """The risks that are above a bound by more than three standard errors, with `above`, as a share
    of it. Of each bound `curve` is held to `other`, a curve of the same risks. The errors are
    those of two risks apart, so that what is found here is found by `bounds` too."""
    names, found = _names(risks), [_none(risks)]
    for pair in bounds:
        own = risks[names == pair["curve"]]
        other = risks.loc[names == pair["other"], ["n", "risk", "risk_se"]]
        both = own.merge(other, on="n", suffixes=("", "_least"))
        error = np.hypot(both.risk_se, both.risk_se_least)
        high = both[both.risk - both.risk_least > BOUND_ERRORS * error]
        found.append(high.assign(above=high.risk / high.risk_least - 1, bound=pair["bound"]))
    return pd.concat([table for table in found if len(table)] or found[:1], ignore_index=True)


def small_print(high: pd.DataFrame, broken: pd.DataFrame) -> str:
    """The worst and the arms, to go on after the protocol; nothing where all are near."""
    text = ""
    if len(high):
        text += f"; best seeds up to {high.above.max():.1%} above the optimum ({_arms(high)})"
    if len(broken):
        text += f"; best seeds up to {broken.above.max():.1%} above a model that they contain"
        text += f" ({_arms(broken)})"
    return text


def warnings(found: pd.DataFrame, remedy: str) -> list[str]:
    """A line for every curve and bound, with its n and what can be done."""
    lines = []
    for (setting, model, layers, arm, bound), rows in found.groupby([*CURVE, "bound"], sort=False):
        lengths = ", ".join(map(str, sorted(rows.n)))
        depth = f" of {layers} layers" if layers > 1 else ""
        lines.append(
            f"{setting}: the best of {rows.seeds_total.max()} seeds of {model}{depth}, {arm}, is"
            f" up to {rows.above.max():.1%} above {bound} (n = {lengths}); {remedy}"
        )
    return lines


def _names(risks: pd.DataFrame) -> pd.Series:
    return risks[CURVE].astype(str).agg(" ".join, axis=1) if len(risks) else pd.Series(dtype=str)


def _none(risks: pd.DataFrame) -> pd.DataFrame:
    return risks.iloc[:0].assign(above=0.0, bound="")


def _arms(found: pd.DataFrame) -> str:
    return ", ".join(entry.label for arm, entry in ARMS.items() if arm in set(found.arm))
