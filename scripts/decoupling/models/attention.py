"""One layer of unconstrained linear attention."""

from __future__ import annotations

from ..problem.one_layer import OneLayer
from ..problem.scaling import Scaling
from .base import COMPILED, Arrays, Model, Shapes, backward_prompts, forward_prompts


class Attention(Model):
    """`query`, `key`, `value` are Wq, Wk, Wv, [seeds, 1, D, D]; a shared head is h = e_D, fixed."""

    name = "attention"
    engine = "moments"
    recipe = "one_layer"
    contexts_per_minute = COMPILED
    references = ("theorem", "optimum", "centred")

    @property
    def weight_shapes(self) -> Shapes:
        return dict.fromkeys(("query", "key", "value"), (1, self.dim + 1, self.dim + 1))

    def forward(self, params: Arrays) -> OneLayer:
        """A₁ = the first d rows of WqWkᵀ, a_k = Wv h_k."""
        scores = params["query"][:, 0, : self.dim] @ params["key"][:, 0].mT
        if "heads" in params:
            readouts = (params["heads"] @ params["value"][:, 0].mT).swapaxes(0, 1)
        else:
            readouts = params["value"][None, :, 0, :, -1]
        return OneLayer(scores, readouts, forward_prompts(params, self.tasks))

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        return scaling.attention(params, linear=True)

    def backward(self, params: Arrays, grad: OneLayer, out: Arrays) -> None:
        """As `Model.backward`. Parameters without influence on the prediction keep gradient 0."""
        if "query" in out:
            query, key = params["query"][:, 0, : self.dim], params["key"][:, 0]
            out["query"][:, 0, : self.dim] = grad.scores @ key
            out["key"][:, 0] = grad.scores.mT @ query
            if "heads" in params:
                out["value"][:, 0] = grad.readouts.swapaxes(0, 1).mT @ params["heads"]
            else:
                out["value"][:, 0, :, -1] = grad.readouts[0]
        if "heads" in out:
            out["heads"][:] = grad.readouts.swapaxes(0, 1) @ params["value"][:, 0]
        if grad.prompts is not None:
            backward_prompts(grad.prompts.swapaxes(0, 1), out)


MODEL = Attention
