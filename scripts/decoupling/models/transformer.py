"""A small transformer: blocks of softmax attention and a perceptron, with residuals and layer norm.

Tokens are embedded linearly, in `width` dimensions and without positions. In every block all tokens
attend to the prompt and the context, and none to the query. The last block computes only the
query's row, which is read out linearly. A task's head is added to the common readout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..problem.scaling import Scaling
from .base import ATTENTION_HEADS, Arm, Arrays, Model, Shapes

if TYPE_CHECKING:
    from torch import Tensor

WIDER = 4  # width of the perceptron's hidden layer over `width`


@dataclass(frozen=True)
class Transformer(Model):
    """Weights of all L blocks, for vectors that are multiplied from the left: `attention` are
    queries, keys, values and output, [seeds, L, 4, w, w]. Norms are trained as their difference
    from 1."""

    name = "transformer"
    engine = "sequences"
    recipe = "transformer"
    contains_shallower = True  # a block can add nothing
    zero_prompt_matters = True
    keys: ClassVar = {
        "width": {
            "description": "Numbers in a transformer's vectors, a multiple of attention_heads; 32"
            " is the default",
            "type": "integer",
            "minimum": 2,
        },
        "attention_heads": ATTENTION_HEADS,
    }

    width: int = 32
    attention_heads: int = 2

    @classmethod
    def supports_depth(cls, layers: int) -> bool:
        return True

    @classmethod
    def unsupported(cls, arm: Arm) -> str | None:
        if arm.heads and not arm.weights:
            return "has heads that add to a common one, and none to fine-tune"
        return super().unsupported(arm)

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.width % self.attention_heads:
            heads = f"attention_heads, {self.attention_heads}"
            yield "width", f"{self.width} is no multiple of {heads}; use one"

    @property
    def weight_shapes(self) -> Shapes:
        blocks, width, hidden = self.layers, self.width, WIDER * self.width
        return {
            "read_in": (self.dim + 2, width),  # the last row is a constant
            "norms": (blocks, 2, 2, width),  # before attention and perceptron: scale and shift
            "attention": (blocks, 4, width, width),
            "hidden": (blocks, width + 1, hidden),
            "back": (blocks, hidden + 1, width),
            "read_out": (width + 1,),
        }

    def trained_shapes(self, arm: Arm) -> Shapes:
        shapes = super().trained_shapes(arm)
        return shapes | ({"heads": (self.tasks, self.width)} if arm.heads else {})

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        """Tokens are read in by T⁻¹, and answers, of the common readout or a task's, are s times as
        large."""
        found = dict(params)
        tokens, constant = np.split(params["read_in"], [-1], axis=-2)
        found["read_in"] = np.concatenate([scaling.inverse_token.T @ tokens, constant], axis=-2)
        if "prompts" in params:
            found |= scaling.attention({"prompts": params["prompts"]}, linear=False)
        for name in {"read_out", "heads"} & set(params):
            found[name] = scaling.label * params[name]
        return found

    def predict(
        self, params: Mapping[str, Tensor], tokens: Tensor, queries: Tensor, tasks: Tensor
    ) -> Tensor:
        """Predictions for `engines.sequences`. Arrays are [seeds, B, tokens, numbers]."""
        import torch
        from torch.nn import functional

        seeds = len(params["read_in"])
        prompts = params.get("prompts")
        asked = functional.pad(queries, (0, 1))[:, None]
        sequence = torch.cat([tokens, asked], 1).expand(seeds, -1, -1, -1)
        if prompts is not None:
            prompts = prompts.expand(-1, self.tasks, -1)[:, tasks, None]
            sequence = torch.cat([prompts, sequence], 2)
        state = _affine(sequence, params["read_in"])
        for block in range(self.layers):
            own = {
                name: params[name][:, block] for name in ("norms", "attention", "hidden", "back")
            }
            last = block == self.layers - 1
            state = self._attend(own, state, only_query=last)
            inner = _affine(_normed(state, own["norms"][:, 1]), own["hidden"]).relu()
            state = state + _affine(inner, own["back"])
        answer = state[:, :, -1]
        head = params["read_out"][:, None, :-1]
        if "heads" in params:
            head = head + params["heads"][:, tasks]
        return (answer * head).sum(-1) + params["read_out"][:, -1:]

    def _attend(self, own: Mapping[str, Tensor], state: Tensor, *, only_query: bool) -> Tensor:
        from torch.nn import functional

        normed = _normed(state, own["norms"][:, 0])
        asking, known = normed[:, :, -1:] if only_query else normed, normed[:, :, :-1]
        parts = (
            _linear(x, own["attention"][:, i]).unflatten(-1, (self.attention_heads, -1))
            for i, x in enumerate((asking, known, known))
        )
        # heads are slices of the width: [seeds, B, heads, tokens, numbers]
        attended = functional.scaled_dot_product_attention(*(x.transpose(-2, -3) for x in parts))
        added = _linear(attended.transpose(-2, -3).flatten(-2), own["attention"][:, 3])
        return (state[:, :, -1:] if only_query else state) + added


def _linear(x: Tensor, matrix: Tensor) -> Tensor:
    """A matrix per seed on [seeds, B, tokens, numbers]."""
    return (x.flatten(1, 2) @ matrix).unflatten(1, x.shape[1:3])


def _affine(x: Tensor, matrix: Tensor) -> Tensor:
    """As `_linear`, with the last row of the matrix as the offset."""
    return _linear(x, matrix[:, :-1]) + matrix[:, None, None, -1]


def _normed(x: Tensor, norm: Tensor) -> Tensor:
    """Layer norm; `norm` are scale − 1 and shift, [seeds, 2, w]."""
    from torch.nn import functional

    scale, shift = norm[:, 0, None, None] + 1, norm[:, 1, None, None]
    return functional.layer_norm(x, x.shape[-1:]) * scale + shift


MODEL = Transformer
