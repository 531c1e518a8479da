"""This machine's results against the archive's, point by point.

A difference is allowed as far as standard errors and rounding explain it. The *kind* of
a point, how it is trained and tested, decides how far rounding goes; data/archive/tolerances.csv
has the measured limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..models.arms import ARMS
from ..tables import BASELINE, POINT
from .page import markdown as table

KEYS = list(POINT)
EXACT = "exact"  # the default of `batch_size`
IDENTICAL, WITHIN, DIFFERS = "identical", "within", "differs"
SUMMARY = "setting | quantity | points | identical | within | differ | most of what is allowed"
DIFFERENCES = "point | quantity | archived | mine | difference | allowed"

Tolerances = Mapping[tuple[str, str], tuple[float, float]]  # relative and errors, by kind, quantity


def read_tolerances(path: Path) -> Tolerances:
    rows = pd.read_csv(path).itertuples()
    return {(row.kind, row.quantity): (row.relative, row.errors) for row in rows}


def kind(point: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """The kind of a point in the table `risks`."""
    if point["risk_se"] > 0:
        return "estimated"
    if recipe.get("batch_size", EXACT) != EXACT:
        return "batches"
    if recipe.get("schedule") == "cosine":  # to a rate of 0
        return "at_rest"
    return EXACT if ARMS[point["arm"]].trains.weights else f"{EXACT}_finetune"


def held_out_kind(same_contexts: bool) -> str:
    """The kind of a table's held-out risks. Contexts are drawn by the numbers of a fold's mixture,
    so that other rounding gives other contexts."""
    return "held_out" if same_contexts else "held_out_other_contexts"


def compare(
    archived: pd.DataFrame, mine: pd.DataFrame, kinds: Sequence[str], tolerances: Tolerances
) -> list[dict[str, Any]]:
    """A row per point and quantity, of tables with the same points in the same order."""
    found = []
    pairs = zip(archived.to_dict("records"), mine.to_dict("records"), kinds, strict=True)
    for kept, own, made in pairs:
        for quantity in ("risk", "median"):
            if quantity in kept and (made, quantity) in tolerances:
                allowed = _allowed(kept, own, *tolerances[made, quantity])
                found.append(_row(kept, quantity, own[quantity], allowed))
    return found


def _allowed(kept: Mapping, own: Mapping, relative: float, errors: float) -> float:
    combined = np.hypot(kept["risk_se"], own["risk_se"]) if errors else 0
    return relative + errors * combined / abs(kept["risk"])


def _row(kept: Mapping[str, Any], quantity: str, own: float, allowed: float) -> dict[str, Any]:
    value = kept[quantity]
    both = [np.isnan(number) for number in (value, own)]  # NaN if no seed was left
    difference = 0.0 if all(both) or own == value else own / value - 1
    found = WITHIN if abs(difference) <= allowed else DIFFERS  # NaN is not within
    point = {key: kept[key] for key in KEYS} | {"quantity": quantity}
    values = {"archived": value, "mine": own, "difference": difference, "allowed": allowed}
    return {**point, **values, "verdict": found if difference else IDENTICAL}


def common(archived: pd.DataFrame, mine: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of points that both tables have, in one order. Baselines, which are not trained, are
    left out."""
    tables = [table[table.model != BASELINE].set_index(KEYS) for table in (archived, mine)]
    both = tables[0].index.intersection(tables[1].index, sort=True)
    one, other = (table.loc[both].reset_index() for table in tables)
    return one, other


def markdown(rows: pd.DataFrame, others: Sequence[str], protocol: str) -> str:
    """The page. Its last line is the verdict, and begins with Verified where nothing differs."""
    lines = [f"# This machine against the archive, protocol {protocol}", ""]
    lines += [f"Not compared: {text}." for text in others] + [""] * bool(others)
    if len(rows):
        lines += [table(SUMMARY, _summaries(rows)), ""]
        wrong = rows[rows.verdict == DIFFERS]
        lines += (
            [table(DIFFERENCES, map(_difference, wrong.itertuples())), ""] if len(wrong) else []
        )
    return "\n".join([*lines, verdict(rows)]) + "\n"


def _summaries(rows: pd.DataFrame) -> Iterator[Sequence[Any]]:
    for (setting, quantity), own in rows.groupby(["setting", "quantity"]):
        counts = own.verdict.value_counts()
        numbers = [len(own), *(counts.get(word, 0) for word in (IDENTICAL, WITHIN, DIFFERS))]
        used = (own.difference.abs() / own.allowed).max()
        yield setting, quantity, *numbers, f"{used:.0%}"


def _difference(row: Any) -> Sequence[str]:
    numbers = (
        f"{row.archived:.8g}",
        f"{row.mine:.8g}",
        f"{row.difference:+.2e}",
        f"{row.allowed:.1e}",
    )
    return _point(row), row.quantity, *numbers


def _point(row: Any) -> str:
    depth = f", {row.layers} layers" if row.layers > 1 else ""
    return f"{row.setting} n = {row.n} {row.model} {row.arm}{depth}"


def verdict(rows: pd.DataFrame) -> str:
    """The page's last line: all agree, or how many differ and which one most."""
    if rows.empty:
        return "Nothing to compare: no setting was trained as archived."
    counts = rows.verdict.value_counts()
    same, within, wrong = (int(counts.get(word, 0)) for word in (IDENTICAL, WITHIN, DIFFERS))
    if not wrong:
        counted = f"{same} are identical, {within} within what is allowed"
        return f"Verified: of {len(rows)} numbers {counted}."
    differing = rows[rows.verdict == DIFFERS]
    worst = differing.loc[(differing.difference.abs() / differing.allowed).idxmax()]
    return (
        f"Different: {wrong} of {len(rows)} numbers differ, most of all {_point(worst)}:"
        f" {worst.quantity} {worst.mine:.8g} for {worst.archived:.8g}."
    )
