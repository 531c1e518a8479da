"""The reduced model, attention under Assumption 1."""

from __future__ import annotations

import numpy as np

from ..problem.one_layer import OneLayer
from ..problem.scaling import Scaling
from .base import COMPILED, Arrays, Model, Shapes, backward_prompts, forward_prompts


class Reduced(Model):
    """ŷ = xᵀW(Xᵀy + q_k p̄_k): attention with A₁ = [W 0] and a = e_D. `weight` is W, [seeds, d, d].

    The whole token [p̄_k; q_k] is trained. Fixing q_k = 1 would lose no generality, but Adam at
    1e-3 moves an entry by at most 20 in 20,000 steps, and p̄ must go further.
    """

    name = "reduced"
    engine = "moments"
    recipe = "one_layer"
    contexts_per_minute = COMPILED
    references = ("theorem",)  # its optimum
    task_heads = False

    @property
    def weight_shapes(self) -> Shapes:
        return {"weight": (self.dim, self.dim)}

    def forward(self, params: Arrays) -> OneLayer:
        weight = params["weight"]
        seeds = len(weight)
        scores = np.zeros((seeds, self.dim, self.dim + 1))
        scores[..., : self.dim] = weight
        readouts = np.zeros((1, seeds, self.dim + 1))
        readouts[..., -1] = 1
        return OneLayer(scores, readouts, forward_prompts(params, self.tasks))

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        """W = L⁻ᵀW̃L⁻¹/n."""
        found = scaling.attention({n: a for n, a in params.items() if n != "weight"}, linear=True)
        back = scaling.inverse.features
        return found | {"weight": back.T @ params["weight"] @ back / scaling.tokens}

    def backward(self, params: Arrays, grad: OneLayer, out: Arrays) -> None:
        if "weight" in out:
            out["weight"][:] = grad.scores[..., : self.dim]
        if grad.prompts is not None:
            backward_prompts(grad.prompts.swapaxes(0, 1), out)


MODEL = Reduced
