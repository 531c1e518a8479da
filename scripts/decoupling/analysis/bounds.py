"""Bounds of models without a theorem: they must not be worse than their special cases.

A layer can be switched off and a prompt can be zero, so that more layers, prompts or heads cannot
have a larger least risk; and no predictor beats the Bayes-optimal one. (A prompt of zeros changes
softmax attention: there, prompts are compared with prompts only.) All models of a mixture are
evaluated on the held-out contexts that their risks are reported on, so that the standard error of
a difference is smaller than those of the two risks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import engines
from ..models.curve import Curve
from ..problem.streams import Stream
from ..tables import BAYES_BOUND, BOUND_ERRORS


def bounds(
    contexts: Any,
    members: Sequence[Curve],
    own: str,
    parameters: Mapping[Curve, Mapping[str, np.ndarray]],
    bayes: Mapping[str, float],
    count: int,
) -> list[dict[str, Any]]:
    """A row per bound of every curve of the setting `own`, at one n."""
    present = [member for member in members if member in parameters]
    # Curves with a theorem are evaluated as bounds of others only.
    checked = [m for m in present if m.setting == own and not m.model_class.has_theorem()]
    pairs = [
        (member, other, bound)
        for member in checked
        for other in present
        if (bound := member.includes(other))
    ]
    errors = _errors(contexts, present, parameters, count)
    rows = []
    for member, other, bound in pairs:
        gap = errors[member] - errors[other]
        rows.append(_row(contexts, member, bound, gap.mean(), _standard_error(gap)))
    for member in checked:
        found = errors[member]
        risk = found.mean() + contexts.spec.noise_var
        error = np.hypot(_standard_error(found), bayes["risk_se"])
        rows.append(_row(contexts, member, BAYES_BOUND, bayes["risk"] - risk, error))
    return rows


def _errors(
    contexts: Any,
    members: Sequence[Curve],
    parameters: Mapping[Curve, Mapping[str, np.ndarray]],
    count: int,
) -> dict[Curve, np.ndarray]:
    """Weighted squared errors of contexts: [count]."""
    found = {}
    for name in dict.fromkeys(member.model_class.engine for member in members):
        engine, loaded = engines.load(name)(contexts), {}
        for member in members:
            if member.model_class.engine == name:
                arrays = {key: engine.from_numpy(x[None]) for key, x in parameters[member].items()}
                loaded[member] = member.build(contexts.spec.dim, contexts.spec.tasks), arrays
        parts = zip(*engine.errors_on(Stream.REPORT, [*loaded.values()], count), strict=True)
        for member, errors in zip(loaded, parts, strict=True):
            found[member] = np.concatenate([own[0].astype(float) for own in errors])
    return found


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def _row(contexts: Any, member: Curve, bound: str, excess: float, error: float) -> dict[str, Any]:
    return {
        **member.point,
        "n": contexts.n,
        "bound": bound,
        "excess": float(excess),
        "excess_se": error,
        "holds": bool(excess <= BOUND_ERRORS * error),
    }
