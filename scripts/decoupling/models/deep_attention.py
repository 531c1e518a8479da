"""L ≥ 2 layers of linear attention with residuals.

Layer l maps every token by T_l = I + A_l G_{l−1} V_l, so G_l = T_lᵀG_{l−1}T_l and the prediction
is ŷ = [x; 0]ᵀv with v = T_1 T_2 … T_L h. Applied from the right this takes only products of G_0
with vectors: 4 of them for L = 2, 13 for L = 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..problem.scaling import Scaling
from .base import COMPILED, Arrays, Model, Shapes, backward_prompts


@dataclass(frozen=True, eq=False)
class Layers:
    """The layers as engines need them; also holds the gradient with respect to them."""

    scores: Any  # A_l = WqWkᵀ: [seeds, L, D, D]
    values: Any  # V_l: [seeds, L, D, D]
    prompts: Any  # p_k: [seeds, K or 1, D], or None
    heads: Any  # h_k: [seeds, K, D], or None for e_D


class DeepAttention(Model):
    """`query`, `key`, `value` are Wq, Wk, Wv of every layer, [seeds, L, D, D]."""

    name = "attention"
    engine = "gram"
    recipe = "deep"
    contexts_per_minute = COMPILED
    contains_shallower = True  # with A_L = 0; one layer, which has no residual, in the limit h → 0

    @classmethod
    def supports_depth(cls, layers: int) -> bool:
        return layers > 1

    @property
    def weight_shapes(self) -> Shapes:
        return dict.fromkeys(("query", "key", "value"), (self.layers, self.dim + 1, self.dim + 1))

    def forward(self, params: Any) -> Layers:
        """The layers, of NumPy's arrays or torch's."""
        scores = params["query"] @ params["key"].mT
        return Layers(scores, params["value"], params.get("prompts"), params.get("heads"))

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        return scaling.attention(params, linear=True)

    def backward(self, params: Arrays, grad: Layers, out: Arrays) -> None:
        if "query" in out:
            out["query"][:] = grad.scores @ params["key"]
            out["key"][:] = grad.scores.mT @ params["query"]
            out["value"][:] = grad.values
        if "heads" in out:
            out["heads"][:] = grad.heads
        backward_prompts(grad.prompts, out)


MODEL = DeepAttention
