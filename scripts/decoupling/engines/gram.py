"""L ≥ 2 layers of linear attention with residuals, on batches of Gram matrices.

Layer l maps every token by T_l = I + A_l G_{l−1} V_l, so G_l = T_lᵀG_{l−1}T_l and the prediction
is ŷ = [x; 0]ᵀv with v = T_1 T_2 … T_L h. Applied from the right this takes only products of G_0
with vectors: 4 of them for L = 2, 13 for L = 3. Contexts are the last, contiguous axis and come
in blocks that stay in cache, so that weights of one seed meet a block as one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from .sampling import GramBatch

Parameters = Mapping[str, torch.Tensor]

BLOCK = 512  # contexts at once: about 1 MB per vector of 50 seeds


class _GramProduct(torch.autograd.Function):
    """S v for symmetric S per context, shared by all seeds: [D, D, B] and [seeds, D, B]."""

    @staticmethod
    def forward(ctx, grams: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        ctx.grams = grams
        product = grams[:, 0] * vectors[:, :1]
        for j in range(1, grams.shape[0]):
            product.addcmul_(grams[:, j], vectors[:, j : j + 1])
        return product

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, _GramProduct.apply(ctx.grams, grad)


class _Chain:
    """The layer chain of every seed on one block of contexts."""

    def __init__(self, grams: torch.Tensor, tasks: torch.Tensor, params: Parameters) -> None:
        """`grams` are [D, D, B]; `tasks` say whose context each is, [K, B] of 0 and 1."""
        self.grams, self.tasks = grams, tasks
        self.scores = params["query"] @ params["key"].mT  # A_l: [seeds, L, D, D]
        self.values = params["value"]
        self.prompts = params.get("prompts")
        self.heads = params.get("heads")

    def predictor(self) -> torch.Tensor:
        """v, [seeds, D, B]."""
        seeds, layers, size, _ = self.scores.shape
        if self.heads is None:
            vectors = self.scores.new_zeros(seeds, size, self.tasks.shape[1])
            vectors[:, -1] = 1
        else:
            vectors = self.heads.mT @ self.tasks
        for layer in reversed(range(layers)):
            vectors = self._tokens(layer, vectors)
        return vectors

    def _tokens(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """T_l v."""
        inner = self._gram(layer, self.values[:, layer] @ vectors)
        return torch.baddbmm(vectors, self.scores[:, layer], inner)

    def _tokens_transposed(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """T_lᵀ v."""
        inner = self._gram(layer, self.scores[:, layer].mT @ vectors)
        return torch.baddbmm(vectors, self.values[:, layer].mT, inner)

    def _gram(self, layer: int, vectors: torch.Tensor) -> torch.Tensor:
        """The Gram matrix that enters `layer` (counted from 0), times v."""
        if layer == 0:
            product = _GramProduct.apply(self.grams, vectors)
            if self.prompts is None:
                return product
            own = (self.prompts @ vectors) * self.tasks  # p_kᵀv for the context's own task
            return torch.baddbmm(product, self.prompts.mT, own)
        below = layer - 1
        return self._tokens_transposed(below, self._gram(below, self._tokens(below, vectors)))


def batch_risk_and_gradient(
    batch: GramBatch,
    params: Parameters,
    sigma_x: torch.Tensor,
    noise_var: float,
    out: Parameters,
) -> torch.Tensor:
    """Every seed's risk on the batch, [seeds]; the gradient of what `out` names is added to it."""
    leaves = [params[name] for name in out]
    total = torch.zeros(len(params["query"]), dtype=torch.float64, device=sigma_x.device)
    for errors in _context_errors(batch, params, sigma_x):
        loss = errors.sum(1) / batch.size
        for grad, block in zip(out.values(), torch.autograd.grad(loss.sum(), leaves), strict=True):
            grad += block
        total += loss.detach()
    return total + noise_var


@torch.no_grad()
def heldout_risk(
    batch: GramBatch, params: Parameters, sigma_x: torch.Tensor, noise_var: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Every seed's risk on the batch and its standard error, [seeds] each."""
    blocks = _context_errors(batch, params, sigma_x)
    errors = torch.cat([block.double() for block in blocks], dim=1)
    return errors.mean(1) + noise_var, errors.std(1) / batch.size**0.5


def _context_errors(
    batch: GramBatch, params: Parameters, sigma_x: torch.Tensor
) -> Iterator[torch.Tensor]:
    """(u − β)ᵀΣx(u − β) of every seed and context, [seeds, block], a block at a time."""
    grams, betas = torch.cat(batch.grams, dim=-1), torch.cat(batch.betas, dim=-1)
    tasks = torch.block_diag(*(beta.new_ones(1, beta.shape[1]) for beta in batch.betas))
    blocks = (tensor.split(BLOCK, dim=-1) for tensor in (grams, tasks, betas))
    for grams_block, tasks_block, betas_block in zip(*blocks, strict=True):
        chain = _Chain(grams_block.contiguous(), tasks_block, params)
        gap = chain.predictor()[:, :-1] - betas_block
        yield (gap * (sigma_x @ gap)).sum(1)
