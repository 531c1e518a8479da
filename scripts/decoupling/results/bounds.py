"""What models without a theorem are held to: they must not be worse than what they contain.

A layer can be switched off and a prompt can be zero, so that more layers, prompts or heads cannot
have a larger least risk; and nothing can beat the Bayes-optimal predictor. (Softmax hears a prompt
of zeros: there, prompts are compared with prompts only.) All models of a mixture are evaluated on
the same held-out contexts, the ones their risks are reported on: a difference has a standard error
of its own, smaller than those of the two risks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .. import engines, models
from ..models import Arm
from ..problem.streams import Stream
from .tables import BAYES_BOUND, POINT

ERRORS = 3  # standard errors within which a bound holds


@dataclass(frozen=True)
class Member:
    """A trained curve that is evaluated with others."""

    setting: str
    module: str
    model: str
    layers: int
    arm: str
    parts: Arm
    sizes: tuple[tuple[str, int], ...] = ()

    def made(self, dim: int = 1, tasks: int = 1) -> models.Model:
        return models.load(self.module)(dim, tasks, self.layers, **dict(self.sizes))

    def contains(self, other: Member) -> str | None:
        """What the other one is called as a bound, if this one's least risk cannot be larger."""
        if self.model != other.model:
            return None
        own = self.made()
        if (self.setting, own) == (other.setting, other.made()):
            heard = own.prompt_is_heard
            return other.arm if _contains(self.parts, other.parts, heard) else None
        # What is fine-tuned sits on frozen weights, of which none can be switched off.
        if self.arm == other.arm and self.parts.weights:
            return own.contains(other.made())
        return None


def _contains(arm: Arm, other: Arm, heard: bool) -> bool:
    """`heard`: a prompt of zeros is not the same as no prompt."""
    own_prompts = arm.prompts and not arm.common
    return (
        arm != other
        and arm.weights >= other.weights
        and arm.heads >= other.heads
        and (own_prompts or not other.prompts or (arm.common and other.common))
        and (not heard or arm.prompted == other.prompted)
    )


def parse_member(fields: Mapping[str, Any]) -> Member:
    """Of what JSON says of it."""
    sizes = tuple((name, size) for name, size in fields["sizes"])
    return Member(**{**fields, "parts": Arm(**fields["parts"]), "sizes": sizes})


def bounds(
    contexts: Any,
    members: Sequence[Member],
    own: str,
    parameters: Mapping[Member, Mapping[str, np.ndarray]],
    bayes: Mapping[str, float],
    count: int,
) -> list[dict[str, Any]]:
    """A row per bound of every curve of the setting `own` at one n."""
    present = [member for member in members if member in parameters]
    # What has theorems is here to be compared with.
    checked = [m for m in present if m.setting == own and not m.made().has_theorem()]
    pairs = [
        (member, other, bound)
        for member in checked
        for other in present
        if (bound := member.contains(other))
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
    members: Sequence[Member],
    parameters: Mapping[Member, Mapping[str, np.ndarray]],
    count: int,
) -> dict[Member, np.ndarray]:
    """Of every context, times its weight, [count]."""
    found = {}
    for name in dict.fromkeys(member.made().engine for member in members):
        engine, loaded = engines.load(name)(contexts), {}
        for member in members:
            if member.made().engine == name:
                arrays = {key: engine.from_numpy(x[None]) for key, x in parameters[member].items()}
                loaded[member] = member.made(contexts.spec.dim, contexts.spec.tasks), arrays
        parts: dict[Member, list[np.ndarray]] = {member: [] for member in loaded}
        for index, first in enumerate(range(0, count, engine.chunk)):
            batch = engine.held_out(Stream.REPORT, index, min(engine.chunk, count - first))
            for member, (model, arrays) in loaded.items():
                parts[member].append(engine.errors(model, arrays, batch)[0].astype(float))
        found |= {member: np.concatenate(errors) for member, errors in parts.items()}
    return found


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def _row(contexts: Any, member: Member, bound: str, excess: float, error: float) -> dict[str, Any]:
    values = member.setting, contexts.n, member.model, member.layers, member.arm
    return {
        **dict(zip(POINT, values, strict=True)),
        "bound": bound,
        "excess": float(excess),
        "excess_se": error,
        "holds": bool(excess <= ERRORS * error),
    }


def read_parameters(
    table: pd.DataFrame, members: Sequence[Member]
) -> dict[int, dict[Member, dict[str, np.ndarray]]]:
    """By n."""
    known = {(m.setting, m.model, m.layers, m.arm): m for m in members}
    found: dict[int, dict[Member, dict[str, np.ndarray]]] = {}
    for row in table.itertuples():
        member = known.get((row.setting, row.model, row.layers, row.arm))
        if member:
            values = np.array(row.values, dtype=float).reshape(tuple(row.shape))
            found.setdefault(row.n, {}).setdefault(member, {})[row.name] = values
    return found
