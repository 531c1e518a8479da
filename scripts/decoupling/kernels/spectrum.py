"""Eigenvalues of XXᵀ for many small matrices X, and the column that has the largest.

By Jacobi's method of one side (Hestenes): two columns of X are rotated until they are orthogonal,
then the next two, in sweeps over all pairs. In the end their squared lengths are the eigenvalues.
"""

from __future__ import annotations

import numpy as np

from . import LARGEST, compiled
from .elementary import number
from .simd import Code, operation

BLOCK = 64  # matrices at a time
SWEEPS = 5  # single precision with 10 columns; with 23 off by 5e-5 of the largest eigenvalue
TINY = 1e-30


def spectrum(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of MᵀM for matrices M [columns, D, count]; the last row is rotated with the rest
    but does not count.

    The largest eigenvalue, [count]; the others, [columns − 1, count]; the column of the largest,
    [D, count], whose sign means nothing.
    """
    columns, size, count = factor.shape
    if max(columns, size) > LARGEST:
        return _in_numpy(factor)
    padded = max(count, BLOCK)
    if count < padded:
        factor = np.pad(factor, ((0, 0), (0, 0), (0, padded - count)))
    top, others, leading = (
        np.empty(shape, np.float32) for shape in (padded, (columns - 1, padded), (size, padded))
    )
    compiled(run, size)((0,) * size, np.ascontiguousarray(factor), top, others, leading)
    return top[:count], others[:, :count], leading[:, :count]


def run(size, factor, top, others, leading):
    """The last block repeats some matrices of the one before."""
    columns, rows, length = factor.shape
    tape = np.zeros(columns * rows * BLOCK, np.float32)
    values = np.zeros(columns * BLOCK, np.float32)
    for block in range(0, length, BLOCK):
        start = min(block, length - BLOCK)
        for m in range(columns):
            for i in range(rows):
                at = (m * rows + i) * BLOCK
                tape[at : at + BLOCK] = factor[m, i, start : start + BLOCK]
        for _ in range(SWEEPS):
            for m in range(columns - 1):
                for o in range(m + 1, columns):
                    rotate(size, tape, m * rows * BLOCK, o * rows * BLOCK, BLOCK)
        for m in range(columns):
            squared_length(size, tape, m * rows * BLOCK, BLOCK, values, m * BLOCK)
        for b in range(BLOCK):
            best = 0
            for m in range(1, columns):
                if values[m * BLOCK + b] > values[best * BLOCK + b]:
                    best = m
            top[start + b] = values[best * BLOCK + b]
            for m in range(columns - 1):
                others[m, start + b] = values[(m + (m >= best)) * BLOCK + b]
            for i in range(rows):
                leading[i, start + b] = tape[(best * rows + i) * BLOCK + b]


@operation("size tape x y length")
def rotate(c: Code, size, tape, x, y, length) -> None:
    """The columns at x and y, rows `length` apart, become orthogonal but for the last row.

    By the angle whose tangent is 2γ/(δ ± √(δ² + 4γ²)), the smaller of two, with γ their product and
    δ the difference of their squared lengths.
    """
    b = c.builder
    with c.contexts(length) as first:
        places = [[c.at(c.row(tape, at, length, i), first) for i in range(size)] for at in (x, y)]
        left, right = ([c.load(place) for place in column] for column in places)
        own, other, both = (
            c.dot(one[:-1], two[:-1]) for one, two in ((left, left), (right, right), (left, right))
        )
        twice, gap = b.fadd(both, both), b.fsub(other, own)
        root = c.function("sqrt", c.fma(gap, gap, b.fmul(twice, twice)))
        sum_ = b.fadd(b.fadd(c.function("fabs", gap), root), number(TINY))
        tangent = b.fdiv(b.fmul(twice, c.function("copysign", number(1), gap)), sum_)
        cosine = b.fdiv(number(1), c.function("sqrt", c.fma(tangent, tangent, number(1))))
        sine = b.fmul(cosine, tangent)
        for (one, two), (at, to) in zip(
            zip(left, right, strict=True), zip(*places, strict=True), strict=True
        ):
            c.store(c.fma(cosine, one, b.fneg(b.fmul(sine, two))), at)
            c.store(c.fma(sine, one, b.fmul(cosine, two)), to)


@operation("size tape x length out y")
def squared_length(c: Code, size, tape, x, length, out, y) -> None:
    """The squared length of the column at x without its last row."""
    with c.contexts(length) as first:
        column = [c.load(c.at(c.row(tape, x, length, i), first)) for i in range(size - 1)]
        c.store(c.dot(column, column), c.at(out, y, first))


def _in_numpy(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`spectrum` of large matrices."""
    _, singular, rotation = np.linalg.svd(factor[:, :-1].transpose(2, 1, 0), full_matrices=False)
    values = (singular**2).T
    return values[0], values[1:], np.einsum("bm,mib->ib", rotation[:, 0], factor)
