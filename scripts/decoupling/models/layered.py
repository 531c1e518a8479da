"""L ≥ 2 layers of linear attention with residuals.

Layer l maps every token by T_l = I + A_l G_{l−1} V_l, so G_l = T_lᵀG_{l−1}T_l and the prediction
is ŷ = [x; 0]ᵀv with v = T_1 T_2 … T_L h. Applied from the right this takes only products of G_0
with vectors: 4 of them for L = 2, 13 for L = 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import Model, Shapes

if TYPE_CHECKING:
    import torch

    from ..engines.gram import Contexts, Tensors


class Layered(Model):
    """`query`, `key`, `value` are Wq, Wk, Wv of every layer, [seeds, L, D, D]."""

    name = "attention"
    deeper = True
    view = "gram"
    recipe = "deep"

    @property
    def weight_shapes(self) -> Shapes:
        return dict.fromkeys(("query", "key", "value"), (self.layers, self.dim + 1, self.dim + 1))

    def predictor(self, params: Tensors, contexts: Contexts) -> torch.Tensor:
        """v of every seed and context, [seeds, D, B]."""
        prompts = params.get("prompts")
        return _Chain(
            contexts,
            params["query"] @ params["key"].mT,
            params["value"],
            prompts.expand(-1, self.tasks, -1) if prompts is not None else None,
        ).predictor(params.get("heads"))


@dataclass(frozen=True, eq=False)
class _Chain:
    """The layers of every seed on one block of contexts."""

    contexts: Contexts
    scores: torch.Tensor  # A_l: [seeds, L, D, D]
    values: torch.Tensor  # V_l: [seeds, L, D, D]
    prompts: torch.Tensor | None  # [seeds, K, D]

    def predictor(self, heads: torch.Tensor | None) -> torch.Tensor:
        seeds, layers, size, _ = self.scores.shape
        tasks = self.contexts.tasks
        if heads is None:
            vectors = self.scores.new_zeros(seeds, size, tasks.shape[1])
            vectors[:, -1] = 1
        else:
            vectors = heads.mT @ tasks
        for layer in reversed(range(layers)):
            vectors = self._tokens(layer, vectors)
        return vectors

    def _tokens(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """T_l v."""
        inner = self._gram(layer, self.values[:, layer] @ vectors)
        return vectors.baddbmm(self.scores[:, layer], inner)

    def _tokens_transposed(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """T_lᵀ v."""
        inner = self._gram(layer, self.scores[:, layer].mT @ vectors)
        return vectors.baddbmm(self.values[:, layer].mT, inner)

    def _gram(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """The Gram matrix that enters `layer` (counted from 0), times v."""
        if layer == 0:
            product = self.contexts.gram(vectors)
            if self.prompts is None:
                return product
            own = (self.prompts @ vectors) * self.contexts.tasks  # p_kᵀv of the context's own task
            return product.baddbmm(self.prompts.mT, own)
        below = layer - 1
        return self._tokens_transposed(below, self._gram(below, self._tokens(below, vectors)))


MODEL = Layered
