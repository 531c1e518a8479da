"""The prompt's share of softmax attention: its mean weight in every head, and how the weight varies
with the context and the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..models.curve import Curve
from ..models.softmax import SoftmaxHeads
from ..problem.sequences import SequenceBatch
from ..problem.streams import Stream

CONTEXTS = 16_384  # held out; a standard error is at most 0.004, whatever the weights
TENTHS = (0.1, 0.9)  # of the contexts


def prompt_shares(
    contexts: Any, parameters: Mapping[Curve, Mapping[str, np.ndarray]]
) -> Iterator[dict[str, Any]]:
    """A row per curve and attention head at one n, heads with the largest share first."""
    batch = contexts.sequences(Stream.REPORT, 0, CONTEXTS)
    for member, params in parameters.items():
        model = member.build(contexts.spec.dim, contexts.spec.tasks)
        weights = shares(model.forward({name: x[None] for name, x in params.items()}), batch)
        for place, head in enumerate(np.argsort(-weights.mean(1), kind="stable")):
            yield {
                **member.point,
                "n": contexts.n,
                "head": place + 1,
                "share": weights[head].mean(),
                "share_se": weights[head].std(ddof=1) / weights.shape[1] ** 0.5,
                **dict(zip(("low", "high"), np.quantile(weights[head], TENTHS), strict=True)),
            }


def shares(row: SoftmaxHeads, batch: SequenceBatch) -> np.ndarray:
    """The prompt's weight in every head and context, [H, B]; `row` has one seed."""
    found = []
    for k, (tokens, query) in enumerate(zip(batch.tokens, batch.queries, strict=True)):
        prompt = row.prompts[0, min(k, row.prompts.shape[1] - 1)]
        u = row.scores[0][:, :, :-1] @ query  # [H, D, B]
        own = np.einsum("i,hib->hb", prompt, u)
        others = np.einsum("nib,hib->hnb", tokens, u, optimize=True)
        top = np.maximum(own, others.max(1))
        mine = np.exp(own - top)
        found.append(mine / (mine + np.exp(others - top[:, None]).sum(1)))
    return np.concatenate(found, axis=1)
