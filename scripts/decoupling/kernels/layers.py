"""Risk and gradient of L ≥ 2 layers on batches of Gram matrices, in one compiled pass.

The predictor v = T_1 … T_L h (see `models.deep_attention`) and its backward pass are one list of
operations on vectors, each on the output of the one before it: PUSH a new vector Mx, ADD Mx to the
vector below, or multiply by the Gram matrix, GRAM. The transpose of PUSH is ADD and that of GRAM is
GRAM, so the backward pass is the list mirrored. All outputs stay on a tape, where those of one
matrix lie side by side, so that a matrix's gradient is a single product.

V_L h, V_{L−1}V_L h, … are the same for all contexts of a task: a context starts after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from . import algebra

BLOCK = 64  # contexts of one task at a time
PUSH, ADD, GRAM = range(3)


@dataclass(frozen=True, eq=False)
class Program:
    """The operations, and the places on the tape (in vectors of one block).

    A row of `operations` is: kind, matrix (2l for A_l, 2l + 1 for V_l), whether transposed, what it
    reads, what it writes, what it adds to (ADD) or which overlap pᵀx it keeps (GRAM).
    """

    operations: np.ndarray  # of the forward pass, then of the backward pass
    forward: int  # the number of operations in the forward pass
    starts: np.ndarray  # places of every level's start vectors, [L + 1]
    ends: np.ndarray  # places of their gradients in the end, [L + 1]
    groups: np.ndarray  # first place and number of uses of every matrix, and of GRAM: [2L + 1, 2]
    places: int


@cache
def program(layers: int) -> Program:
    chain = _chain(layers)
    mirrored = [((ADD, PUSH, GRAM)[k], m, 1 - t, level) for k, m, t, level in reversed(chain)]
    groups, read, written = _places(chain, layers)
    spare = groups[-1].sum() + groups[-1, 1]
    # An operation reads the output of the one before it; nothing reads that of the last one.
    inputs = [*read, *reversed(written), spare]
    partners = [*written, *reversed(read)]
    newest = [*range(spare + 1, spare + 1 + layers), read[0]]  # of every level
    starts, rows = np.array(newest), []
    for i, (kind, matrix, transposed, level) in enumerate(chain + mirrored):
        extra = newest[level] if kind == ADD else partners[i] - groups[-1, 0]
        rows.append((kind, matrix, transposed, inputs[i], inputs[i + 1], extra))
        newest[level + (kind == PUSH)] = inputs[i + 1]
    places = spare + 1 + layers
    return Program(np.array(rows), len(chain), starts, np.array(newest), groups, int(places))


def _chain(layers: int) -> list[tuple[int, int, int, int]]:
    """Kind, matrix, whether transposed, level: the forward pass without its context-free start."""
    chain: list[tuple[int, int, int, int]] = []

    def tokens(layer: int, level: int, transposed: int = 0) -> None:
        chain.append((PUSH, 2 * layer + 1 - transposed, transposed, level))
        gram(layer, level + 1)
        chain.append((ADD, 2 * layer + transposed, transposed, level))

    def gram(layer: int, level: int) -> None:
        if layer == 0:
            chain.append((GRAM, 0, 0, level))
        else:
            tokens(layer - 1, level)
            gram(layer - 1, level)
            tokens(layer - 1, level, transposed=1)

    for layer in reversed(range(layers)):
        tokens(layer, 0)
    return chain[layers:]


def _places(chain: list, layers: int) -> tuple[np.ndarray, list[int], list[int]]:
    """The groups, and the places of each operation's input and of the gradient of its output.

    A group has the left factors of its matrix's gradient, then the right ones.
    """
    owners = [2 * layers if kind == GRAM else matrix for kind, matrix, *_ in chain]
    uses = [owners.count(group) for group in range(2 * layers + 1)]
    first = np.concatenate([[0], 2 * np.cumsum(uses)])
    read, written = [], []
    for i, (_, _, transposed, _) in enumerate(chain):
        left = int(first[owners[i]]) + owners[:i].count(owners[i])
        right = left + uses[owners[i]]
        read.append(left if transposed else right)
        written.append(right if transposed else left)
    return np.stack([first[:-1], uses], 1), read, written


def run(
    size, one, groups, operations, forward, starts_at, ends_at, places, with_gradient, prompted,
    grams, betas, weights, tasks, matrices, prompts, starts, sigma_x,
    errors, d_matrices, d_prompts, d_starts,
):  # fmt: skip
    """Every seed's errors, [seeds, blocks, BLOCK], and its gradients, added to the arguments `d_…`.

    `size` and `one` are tuples as long as D and 1. Blocks of contexts: grams [blocks, P·BLOCK],
    betas [blocks, d·BLOCK], weights [blocks, BLOCK], tasks [blocks]. Seeds: matrices (A_l and V_l,
    each with its transpose) [seeds, 2L, 2, D·D], prompts [seeds, K, D], starts [seeds, K, L+1, D].
    """
    rows = len(size)
    levels = len(starts_at)
    stride = (places | 1) * BLOCK  # odd: rows do not fall on the same cache lines
    tape = np.zeros(rows * stride, np.float32)
    first_gram, gram_uses = groups[-1]
    overlaps = np.zeros((2 * gram_uses, BLOCK), np.float32)
    ones = np.ones(BLOCK, np.float32)
    for block in range(len(grams)):
        task = tasks[block]
        for seed in range(len(matrices)):
            for level in range(levels):
                for i in range(rows):
                    at = i * stride + starts_at[level] * BLOCK
                    tape[at : at + BLOCK] = starts[seed, task, level, i]
            for o in range(len(operations) if with_gradient else forward):
                kind, matrix, transposed, x, y, extra = operations[o]
                x, y = x * BLOCK, y * BLOCK
                if kind == GRAM:
                    if prompted:
                        algebra.gram_prompt(
                            size, grams[block], tape, x, y, stride, BLOCK,
                            prompts[seed, task], overlaps[extra],
                        )  # fmt: skip
                    else:
                        algebra.gram(size, grams[block], tape, x, y, stride, BLOCK)
                elif kind == PUSH:
                    numbers = matrices[seed, matrix, transposed]
                    algebra.multiply(size, numbers, tape, x, y, stride, BLOCK)
                else:
                    numbers = matrices[seed, matrix, transposed]
                    algebra.multiply_add(size, numbers, tape, x, y, stride, BLOCK, extra * BLOCK)
                if o == forward - 1:
                    algebra.loss(
                        size, sigma_x, betas[block], weights[block], tape, y, stride, BLOCK,
                        errors[seed, block],
                    )  # fmt: skip
            if not with_gradient:
                continue
            for matrix in range(len(groups) - 1):
                left, uses = groups[matrix] * BLOCK
                if uses:
                    algebra.outer(
                        size, size, tape, left, stride, tape, left + uses, stride, uses,
                        d_matrices[seed, matrix],
                    )  # fmt: skip
            if prompted:
                algebra.outer(
                    size, one, tape, first_gram * BLOCK, stride, overlaps, 0, 0,
                    2 * gram_uses * BLOCK, d_prompts[seed, task],
                )  # fmt: skip
            for level in range(levels):
                algebra.outer(
                    size, one, tape, ends_at[level] * BLOCK, stride, ones, 0, 0, BLOCK,
                    d_starts[seed, task, level],
                )  # fmt: skip
