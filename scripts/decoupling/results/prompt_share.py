"""How much of the attention prompts have: the mean weight of the prompt in every head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import engines
from ..problem.streams import Stream
from .bounds import Member
from .tables import POINT

CONTEXTS = 32_768  # held out; a standard error is below 0.003, whatever the weights


def prompt_shares(
    contexts: Any, parameters: Mapping[Member, Mapping[str, np.ndarray]]
) -> Iterator[dict[str, Any]]:
    """A row per curve and attention head, at one n; heads with more of it first."""
    for member, params in parameters.items():
        model = member.made(contexts.spec.dim, contexts.spec.tasks)
        engine = engines.load(model.view)(contexts)
        arrays = {name: engine.array(value[None]) for name, value in params.items()}
        parts = [
            engine.prompt_weights(model, arrays, engine.batch(Stream.REPORT, index, engine.chunk))
            for index in range(CONTEXTS // engine.chunk)
        ]
        weights = np.concatenate([part[0] for part in parts], axis=1).astype(float)  # [H, B]
        point = member.setting, contexts.n, member.model, member.layers, member.arm
        order = np.argsort(-weights.mean(1), kind="stable")
        for place, head in enumerate(order):
            yield {
                **dict(zip(POINT, point, strict=True)),
                "head": place + 1,
                "share": weights[head].mean(),
                "share_se": weights[head].std(ddof=1) / CONTEXTS**0.5,
            }
