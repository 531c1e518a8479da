"""The trainable parameters of each model, and how they make A₁, a_k and p_k.

A model keeps its parameters by name, batched over seeds: `query`, `key`, `value` (Wq, Wk, Wv of
every layer, [seeds, L, D, D]) or the reduced model's `weight` (W, [seeds, d, d]); `prompts`
(p_k, [seeds, K, D]) and `heads` (h_k, [seeds, K, D]). Which of them exist and which are trained
is the arm's choice.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .recipes import Arm
from .risk import OneLayer

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Attention:
    """L layers of unconstrained linear attention; a shared head is h = e_D, fixed."""

    dim: int
    tasks: int
    layers: int = 1

    @property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        size = self.dim + 1
        return dict.fromkeys(("query", "key", "value"), (self.layers, size, size))

    def one_layer(self, params: Arrays) -> OneLayer:
        query = params["query"][:, 0, : self.dim] @ params["key"][:, 0].mT
        if "heads" in params:
            heads = (params["heads"] @ params["value"][:, 0].mT).swapaxes(0, 1)
        else:
            heads = params["value"][None, :, 0, :, -1]
        return OneLayer(query, heads, _tasks_first(params.get("prompts")))

    def pull_back(self, params: Arrays, grad: OneLayer, out: Arrays) -> None:
        """Write the gradient of the trained parameters, given that of A₁, a_k and p_k, to `out`.
        What does not influence the prediction is left as it is there: zero."""
        if "query" in out:
            query, key = params["query"][:, 0, : self.dim], params["key"][:, 0]
            out["query"][:, 0, : self.dim] = grad.query @ key
            out["key"][:, 0] = grad.query.mT @ query
            if "heads" in params:
                out["value"][:, 0] = grad.heads.swapaxes(0, 1).mT @ params["heads"]
            else:
                out["value"][:, 0, :, -1] = grad.heads[0]
        if "heads" in out:
            out["heads"][:] = grad.heads.swapaxes(0, 1) @ params["value"][:, 0]
        if "prompts" in out:
            out["prompts"][:] = grad.prompts.swapaxes(0, 1)


@dataclass(frozen=True)
class Reduced:
    """Assumption 1: ŷ = xᵀW(Xᵀy + q_k p̄_k), attention with A₁ = [W 0] and a = e_D.

    The prompt is trained as the whole token [p̄_k; q_k]: fixing q_k = 1 loses no generality,
    but Adam at 1e-3 moves an entry by at most 20 in 20,000 steps and p̄ must go further.
    """

    dim: int
    tasks: int
    layers: int = 1

    @property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.dim, self.dim)}

    def one_layer(self, params: Arrays) -> OneLayer:
        weight = params["weight"]
        seeds = len(weight)
        query = np.zeros((seeds, self.dim, self.dim + 1))
        query[..., : self.dim] = weight
        heads = np.zeros((1, seeds, self.dim + 1))
        heads[..., -1] = 1
        return OneLayer(query, heads, _tasks_first(params.get("prompts")))

    def pull_back(self, params: Arrays, grad: OneLayer, out: Arrays) -> None:
        if "weight" in out:
            out["weight"][:] = grad.query[..., : self.dim]
        if "prompts" in out:
            out["prompts"][:] = grad.prompts.swapaxes(0, 1)


Model = Attention | Reduced
MODELS: dict[str, type[Attention | Reduced]] = {"attention": Attention, "reduced": Reduced}


def trained_shapes(model: Model, arm: Arm) -> dict[str, tuple[int, ...]]:
    """Name and shape (of one seed) of what an arm trains."""
    shapes = dict(model.weight_shapes) if arm.weights else {}
    token = (model.tasks, model.dim + 1)
    if arm.prompts:
        shapes["prompts"] = token
    if arm.heads:
        shapes["heads"] = token
    return shapes


def initial_values(
    shapes: Mapping[str, tuple[int, ...]], seeds: Sequence[int], std: float
) -> dict[str, np.ndarray]:
    """Independent N(0, std²) entries, a stream of its own for every (seed, name).

    So a seed starts the same whichever arm, context length or block of seeds it is in.
    """
    values = {}
    for name, shape in shapes.items():
        draws = [
            np.random.default_rng([seed, zlib.crc32(name.encode())]).standard_normal(shape)
            for seed in seeds
        ]
        values[name] = std * np.stack(draws)
    return values


def _tasks_first(prompts: np.ndarray | None) -> np.ndarray | None:
    return None if prompts is None else prompts.swapaxes(0, 1)
