"""One layer of softmax attention.

A head weights the prompt and the context's tokens by the softmax of x̃ᵀWqWkᵀz_i, with x̃ = [x; 0] the
query's token, which does not attend to itself; heads add up. Only this row is ever computed. A
head's values are read as aᵀz_i, with a_k = Wv h_k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..problem.scaling import Scaling
from .base import ATTENTION_HEADS, COMPILED, Arrays, Model, Shapes, backward_prompts


@dataclass(frozen=True, eq=False)
class SoftmaxHeads:
    """The heads as engines need them; also holds the gradient with respect to them."""

    scores: Any  # WkWqᵀ: [seeds, H, D, D]
    readouts: Any  # a_k: [seeds, K, H, D]
    prompts: Any  # p_k: [seeds, K, D], or None


@dataclass(frozen=True)
class Softmax(Model):
    """`query`, `key`, `value` are Wq, Wk, Wv of every head, [seeds, H, D, D]."""

    name = "softmax"
    engine = "softmax"
    recipe = "softmax"
    contexts_per_minute = COMPILED
    zero_prompt_matters = True  # a prompt of zeros gets a share of the weights
    keys: ClassVar = {"attention_heads": ATTENTION_HEADS}

    attention_heads: int = 2

    @property
    def weight_shapes(self) -> Shapes:
        shape = self.attention_heads, self.dim + 1, self.dim + 1
        return dict.fromkeys(("query", "key", "value"), shape)

    def contains(self, other: Model) -> str | None:
        """Fewer attention heads are a special case: readouts of the others can be 0."""
        heads = other.attention_heads
        if (
            heads >= self.attention_heads
            or replace(other, attention_heads=self.attention_heads) != self
        ):
            return None
        return f"{heads} attention head{'s' if heads > 1 else ''}"

    def forward(self, params: Mapping[str, Any]) -> SoftmaxHeads:
        """The heads, of NumPy's arrays or torch's."""
        value, prompts = params["value"], params.get("prompts")
        if "heads" in params:
            readouts = (value[:, None] @ params["heads"][:, :, None, :, None])[..., 0]
        else:
            readouts = value[:, None, :, :, -1]
        return SoftmaxHeads(params["key"] @ params["query"].mT, readouts, prompts)

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        return scaling.attention(params, linear=False)

    def backward(self, params: Arrays, grad: SoftmaxHeads, out: Arrays) -> None:
        if "query" in out:
            out["key"][:] = grad.scores @ params["query"]
            out["query"][:] = grad.scores.mT @ params["key"]
            if "heads" in params:
                out["value"][:] = np.einsum("skhi,skj->shij", grad.readouts, params["heads"])
            else:
                out["value"][:] = 0
                out["value"][..., -1] = grad.readouts.sum(1)
        if "heads" in out:
            out["heads"][:] = np.einsum("skhi,shij->skj", grad.readouts, params["value"])
        backward_prompts(grad.prompts, out)

    def predict(self, params: Mapping[str, Any], tokens: Any, queries: Any, tasks: Any) -> Any:
        """Predictions in torch, for devices without compiled kernels (`engines.sequences`)."""
        row = self.forward(params)
        chosen = row.readouts.expand(-1, self.tasks, -1, -1)[:, tasks]  # [seeds, B, H, D]
        u = row.scores[:, None, :, :, :-1] @ queries[:, None, :, None]
        u = u[..., 0]
        scores, values = (x @ tokens.mT for x in (u, chosen))  # [seeds, B, H, n]
        if row.prompts is not None:
            prompts = row.prompts.expand(-1, self.tasks, -1)[:, tasks, :, None]
            scores, values = (
                self._in_front(x @ prompts, own) for x, own in ((u, scores), (chosen, values))
            )
        return (scores.softmax(-1) * values).sum((-1, -2))

    @staticmethod
    def _in_front(one: Any, others: Any) -> Any:
        import torch

        return torch.cat([one, others], -1)


MODEL = Softmax
