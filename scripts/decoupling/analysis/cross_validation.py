"""Cross-validation of a table: held-out risks of all folds with standard errors, and predictions.

Every unit is held out once. Measured and predicted risks are both divided by the data's E[y²], so
that their difference does not depend on the mixture's E[y²]; the gate tests that one separately.
Standard errors are by bootstrap over clusters of units (`redrawn`). All predictors, n and
predictions share the draws, so that differences between them are paired.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem.mixture import TaskMixture
from ..tables import BASELINE, PREDICTIONS
from .redrawn import THEORY_DRAWS, cluster_weights

if TYPE_CHECKING:
    import pandas as pd

BEFORE = {  # reference of a gain: an arm of the same model, or a baseline
    "gain": (None, "plain"),
    "over_shared": (None, "shared"),
    "over_mean": (BASELINE, "group_mean"),  # which does not use the context
}
KEYS = ["n", "model", "layers", "arm"]
Point = tuple[int, str, int, str]  # of KEYS


def real_rows(
    setting: str,
    held_out: pd.DataFrame,
    theory: pd.DataFrame,
    redrawn: pd.DataFrame,
    runs: pd.DataFrame,
    specs: Sequence[str],
) -> list[dict[str, Any]]:
    """A row per predictor and n. `runs` are risks on training units, `specs` the specs' texts."""
    drawn = _Drawn.of(held_out, theory, redrawn)
    folds = runs.groupby(KEYS)
    trained = folds.agg({"risk": "mean", "seeds_total": "mean", "descent_left": "max"})
    common = {"setting": setting, **_about(specs, held_out, redrawn)}
    common["label_power"] = drawn.power[0]
    rows = []
    for point, risks in drawn.measured.items():
        row = {**common, **dict(zip(KEYS, point, strict=True))}
        own = risks / drawn.power
        row |= {"risk": risks[0], "risk_se": _error(risks), "normalized": own[0]}
        row["normalized_se"] = _error(own)
        for name, before in BEFORE.items():
            gain = drawn.gain(point, *before)
            row |= {name: gain[0], f"{name}_se": _error(gain)}
        for curve in PREDICTIONS:
            row |= drawn.against(curve, point)
        known = point in trained.index
        row["training_risk"] = trained.risk[point] if known else np.nan
        row["seeds"] = int(trained.seeds_total[point]) if known else 0
        row["descent_left"] = trained.descent_left[point] if known else np.nan
        rows.append(row)
    return rows


def _error(values: np.ndarray) -> float:
    """The standard error of the first value, from the draws after it."""
    return float(values[1:].std(ddof=1))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Values for the data, then for every draw: arrays of [1 + draws]. Predictions are of the
    first draws alone."""

    measured: dict[Point, np.ndarray]  # risks
    power: np.ndarray  # E[y²] of the data
    predicted: dict[tuple[str, int, str], np.ndarray]  # risks by curve, n and arm

    @classmethod
    def of(cls, held_out: pd.DataFrame, theory: pd.DataFrame, redrawn: pd.DataFrame) -> _Drawn:
        sums = held_out.pivot_table(
            index="cluster", columns=KEYS, values=["risk", "label_power"], aggfunc="sum"
        )
        about = held_out.drop_duplicates(["group", "unit"]).groupby("cluster")
        counts, fold = about.size().to_numpy(float), about.setting.first().to_numpy()
        weights = np.vstack([np.ones((1, len(sums))), cluster_weights(len(sums))])
        units = weights @ counts
        points = list(sums["risk"].columns)
        risks = dict(
            zip(points, (weights @ sums["risk"].to_numpy() / units[:, None]).T, strict=True)
        )
        power = (weights @ sums["label_power"].to_numpy()).mean(1) / units
        first = weights[: 1 + THEORY_DRAWS] * counts
        shares = {name: first[:, fold == name].sum(1) / first.sum(1) for name in set(fold)}
        return cls(risks, power, _predicted(theory, redrawn, shares))

    def gain(self, point: Point, model: str | None, arm: str) -> np.ndarray:
        """The normalised gain of a predictor over another; missing if there is no other."""
        n, own, layers, _ = point
        before = self.measured.get((n, model or own, layers, arm))
        if before is None:
            return np.full_like(self.power, np.nan)
        return (before - self.measured[point]) / self.power

    def against(self, curve: str, point: Point) -> dict[str, float]:
        """The predicted risk of a point, its predicted gain over plain, and the standard errors of
        measured less predicted."""
        n, _, _, arm = point
        names = ("_risk", "", "_se", "_gain", "_gain_se")
        if (curve, n, arm) not in self.predicted:
            return {f"{curve}{name}": np.nan for name in names}
        risk, plain = (self.predicted[curve, n, one] for one in (arm, "plain"))
        drawn = slice(len(risk))
        power = self.power[drawn]
        off = (self.measured[point][drawn] - risk) / power
        gain = (plain - risk) / power
        gain_off = self.gain(point, None, "plain")[drawn] - gain
        values = (risk[0], risk[0] / power[0], _error(off), gain[0], _error(gain_off))
        return {f"{curve}{name}": value for name, value in zip(names, values, strict=True)}


def _predicted(
    theory: pd.DataFrame, redrawn: pd.DataFrame, shares: dict[str, np.ndarray]
) -> dict[tuple[str, int, str], np.ndarray]:
    """Averages over folds, weighted by their shares of held-out units."""
    keys = ["setting", "curve", "n", "arm"]
    first = theory.set_index(keys).risk
    together: dict[tuple[str, int, str], np.ndarray] = {}
    for (fold, *point), rows in redrawn.groupby(keys):
        risks = np.append(first[fold, *point], rows.sort_values("draw").risk)
        together[tuple(point)] = together.get(tuple(point), 0) + shares[fold] * risks
    return together


def _about(specs: Sequence[str], held_out: pd.DataFrame, redrawn: pd.DataFrame) -> dict[str, Any]:
    """The setting's gate, predicted over measured E[y²], and numbers of units."""
    powers = [TaskMixture.from_json(text).label_power for text in specs]
    tables = [json.loads(text)["table"] for text in specs]
    ratios = [power / own["label_power"] for power, own in zip(powers, tables, strict=True)]
    gates = redrawn.drop_duplicates(["setting", "draw"]).groupby("draw").gate.mean()
    units = tables[0]["units"]
    return {
        "gate": float(np.mean(ratios)),
        "gate_se": float(gates.std(ddof=1)),
        "units": units["kept"],
        "units_total": units["total"],
        "clusters": held_out.cluster.nunique(),
    }
