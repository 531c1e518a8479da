"""The scoreboard: how far every trained curve is from the theorem, the optimum and the authors.

A deviation is (risk − reference) / reference of the best seed's risk, at each context length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables import BAYES_BOUND as BAYES
from ..tables import CURVE, SCOREBOARD

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.01  # a curve matches its theorem if no point is further off than this
COMPUTED = ("theorem", "optimum", "centred")

MATCHES, ABOVE, BELOW = "matches", "above", "below"
DIVERGED, NO_THEOREM = "diverged", "no theorem"
HOLDS, BROKEN = "bounds hold", "bound broken"


def scoreboard(
    curves: Iterable[Mapping[str, Any]],
    risks: pd.DataFrame,
    theory: pd.DataFrame,
    published: pd.DataFrame,
    bounds: pd.DataFrame,
) -> pd.DataFrame:
    """A row per curve (panel, setting, model, layers, arm, references), in the columns of
    SCOREBOARD."""
    import pandas as pd

    rows = [_score(curve, risks, theory, published, bounds) for curve in curves]
    return pd.DataFrame(rows, columns=SCOREBOARD.names)


def deviations(trained: pd.Series, reference: pd.Series) -> pd.Series:
    """Relative deviations by n, where both numbers are finite."""
    found = (trained - reference) / reference  # aligned by n
    return found[np.isfinite(found)]


def worst(values: pd.Series) -> float:
    """The value largest in absolute value, with its sign; NaN if there is none."""
    return values.loc[values.abs().idxmax()] if len(values) else np.nan


def verdict(risks: pd.Series, theorem_worst: float, bounds: pd.DataFrame) -> str:
    """The verdict by the worst point, also where signs are mixed."""
    if not np.isfinite(risks).all():
        return DIVERGED
    if np.isnan(theorem_worst) and len(bounds):
        return HOLDS if bounds.holds.all() else BROKEN
    if np.isnan(theorem_worst):
        return NO_THEOREM
    if abs(theorem_worst) <= TOLERANCE:
        return MATCHES
    return ABOVE if theorem_worst > 0 else BELOW


def _score(
    curve: Mapping[str, Any],
    risks: pd.DataFrame,
    theory: pd.DataFrame,
    published: pd.DataFrame,
    bounds: pd.DataFrame,
) -> dict[str, Any]:
    points = _pick(risks, curve)
    if points.empty:
        raise ValueError(f"the risks have no curve {dict(curve)}")
    trained = points.set_index("n").risk
    row = {key: curve[key] for key in ("panel", "model", "layers", "arm")}
    references = _references(curve, theory, published)
    for name, reference in references.items():
        found = deviations(trained, reference)
        row |= {f"{name}_worst": worst(found), f"{name}_mean": found.mean()}
    row["seeds_ok_least"] = points.seeds_ok.min()
    held_to = _pick(bounds, curve)
    row["verdict"] = verdict(trained, row["theorem_worst"], held_to)
    row["has_theorem"] = len(references["theorem"]) > 0
    row["broken"] = "; ".join(broken(held_to))
    row["error_worst"] = (points.risk_se / points.risk).max()
    row["tail_worst"] = points.tail_share.max()
    return row


def broken(bounds: pd.DataFrame) -> list[str]:
    """The bounds that do not hold, in words."""
    found = []
    for bound, rows in bounds[~bounds.holds].groupby("bound", sort=False):
        side = "below" if bound == BAYES else "above"
        found.append(f"{side} {bound} at n = {', '.join(map(str, sorted(rows.n)))}")
    return found


def _references(
    curve: Mapping[str, Any], theory: pd.DataFrame, published: pd.DataFrame
) -> dict[str, pd.Series]:
    """Reference risks by n. `curve` names the computed ones that its model has."""
    computed = _pick(theory, curve, ("setting", "arm"))
    tables = {
        name: computed[(computed.curve == name) & (name in curve["references"])]
        for name in COMPUTED
    }
    tables["published"] = _pick(published, curve)
    return {name: table.set_index("n").risk.astype(float) for name, table in tables.items()}


def _pick(
    table: pd.DataFrame, curve: Mapping[str, Any], keys: Iterable[str] = CURVE
) -> pd.DataFrame:
    same = [table[key] == curve[key] for key in keys]
    return table[np.logical_and.reduce(same)]
