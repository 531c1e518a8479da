"""The held-out risk of a fold: squared errors on contexts of units not trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..models.curve import Curve
from ..problem.one_layer import OneLayer
from ..sources.table.baselines import baselines
from ..sources.table.spec import Fold
from ..sources.table.tokens import Contexts
from ..tables import BASELINE


def held_out_rows(
    fold: Fold, n: int, parameters: Mapping[Curve, Mapping[str, np.ndarray]]
) -> list[dict[str, Any]]:
    """A row per predictor and unit at one n."""
    contexts = fold.held_out_contexts(n)
    grams = contexts.grams
    found = {}
    for member, params in parameters.items():
        made = member.build(fold.mix.dim, fold.mix.tasks)
        layer = made.forward({name: a[None] for name, a in params.items()})
        found[member.model, member.layers, member.arm] = predict(layer, contexts, grams)
    ordinary = baselines(fold, n, contexts)
    found |= {(BASELINE, 1, name): values for name, values in ordinary.items()}
    rows = []
    power = _by_unit(contexts.label**2, contexts)
    for (model, layers, arm), values in found.items():
        risk = _by_unit((values - contexts.label) ** 2, contexts)
        point = {"setting": fold.mix.name, "n": n, "model": model, "layers": layers, "arm": arm}
        rows += [
            {
                **point,
                "group": unit.group,
                "unit": unit.name,
                "cluster": unit.cluster,
                "risk": risk[i],
                "label_power": power[i],
            }
            for i, unit in enumerate(fold.held_out)
        ]
    return rows


def predict(layer: OneLayer, contexts: Contexts, grams: np.ndarray) -> np.ndarray:
    """ŷ = x_qᵀA₁(Sa_k + p_k(p_kᵀa_k)) for every context; `layer` has one seed."""
    readout = layer.readouts[np.minimum(contexts.task, len(layer.readouts) - 1), 0]
    features = (grams @ readout[..., None])[..., 0]
    if layer.prompts is not None:
        prompt = layer.prompts[:, 0][contexts.task]
        features = features + (prompt * readout).sum(1, keepdims=True) * prompt
    return (contexts.query * (features @ layer.scores[0].T)).sum(1)


def _by_unit(values: np.ndarray, contexts: Contexts) -> np.ndarray:
    return np.bincount(contexts.unit, values) / np.bincount(contexts.unit)
