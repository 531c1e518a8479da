"""Tokens of contexts from their random numbers."""

from __future__ import annotations

import numpy as np
from numba.core import cgutils

from . import LARGEST, compiled
from .simd import INT, LANES, Code, operation


def make_tokens(chol_x: np.ndarray, beta: np.ndarray, white: np.ndarray) -> np.ndarray:
    """[Lx w; βᵀLx w] of every token's white w: from [n, d, count], and β, [d, count], to
    [n, D, count]. Single precision."""
    number, dim, count = white.shape
    if dim + 1 > LARGEST:
        x = chol_x @ white
        return np.concatenate([x, np.einsum("njb,jb->nb", x, beta)[:, None]], axis=1)
    padded = max(count, LANES)
    if count < padded:
        beta, white = (
            np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, padded - count)]) for x in (beta, white)
        )
    out = np.empty((number, dim + 1, padded), np.float32)
    arrays = (np.ascontiguousarray(x).reshape(-1) for x in (chol_x, beta, white))
    compiled(run, dim)((0,) * dim, *arrays, out.reshape(-1), number, padded)
    return out[..., :count]


def run(size, chol_x, beta, white, out, number, length):
    _tokens(size, chol_x, beta, white, out, number, length)


@operation("size chol_x beta white out number length")
def _tokens(c: Code, size, chol_x, beta, white, out, number, length) -> None:
    b = c.builder
    with cgutils.for_range(b, number, intp=INT) as token:
        read = b.mul(b.mul(token.index, INT(size)), length)
        write = b.mul(b.mul(token.index, INT(size + 1)), length)
        with c.contexts(length, any_length=True) as first:
            values = [c.load(c.at(c.row(white, read, length, j), first)) for j in range(size)]
            label = None
            for i in range(size):
                numbers = [c.splat(c.at(chol_x, i * size + j)) for j in range(i + 1)]
                x = c.dot(numbers, values[: i + 1])
                c.store(x, c.at(c.row(out, write, length, i), first))
                label = c.fma(x, c.load(c.at(beta, b.mul(length, INT(i)), first)), label)
            c.store(label, c.at(c.row(out, write, length, size), first))
