"""Tokens of contexts from their random numbers."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from . import compiled
from .algebra import ROWS
from .simd import INT, LANES, Code, Number, Sums, operation


def make_tokens(chol_x: np.ndarray, beta: np.ndarray, white: np.ndarray) -> np.ndarray:
    """[Lx w; βᵀLx w] of every token's white w: from [n, d, count], and β, [d, count], to
    [n, D, count]. Single precision."""
    number, dim, count = white.shape
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

            def value(j: Number) -> ir.Value:
                return c.load(c.at(c.row(white, read, length, j), first))

            label = Sums(c, 1)
            for top, height in c.tiles(size, c.step(size, ROWS)):
                sums = Sums(c, height)
                for j in c.numbers(0, top):  # of a triangular matrix
                    sums.add_column(chol_x, size, top, j, value(j))
                for k in range(height):
                    j = c.plus(top, k)
                    sums.add_column(chol_x, size, top, j, value(j), skip=k)
                for k in range(height):
                    i, x = c.plus(top, k), sums.value(k)
                    c.store(x, c.at(c.row(out, write, length, i), first))
                    label.add(x, c.load(c.at(beta, c.times(length, i), first)))
            c.store(label.value(), c.at(c.row(out, write, length, size), first))
