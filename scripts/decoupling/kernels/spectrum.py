"""Eigenvalues of XXᵀ for many small matrices X, and the column that has the largest.

By Jacobi's method of one side (Hestenes): two columns of X are rotated until they are orthogonal,
then the next two, in sweeps over all pairs. In the end their squared lengths are the eigenvalues.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from . import compiled
from .elementary import number
from .simd import Code, Number, operation

BLOCK = 64  # matrices at a time
# (columns, sweeps): the sweeps for up to so many columns. Errors are 5e-5 of the largest eigenvalue
# or less, about those of single precision for large matrices
SWEEPS = (24, 5), (100, 6), (200, 8)
TINY = 1e-30


def spectrum(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of MᵀM for matrices M [columns, D, count]; the last row is rotated with the rest
    but does not count.

    The largest eigenvalue, [count]; the others, [columns − 1, count]; the column of the largest,
    [D, count], whose sign means nothing.
    """
    columns, size, count = factor.shape
    padded = max(count, BLOCK)
    if count < padded:
        factor = np.pad(factor, ((0, 0), (0, 0), (0, padded - count)))
    top, others, leading = (
        np.empty(shape, np.float32) for shape in (padded, (columns - 1, padded), (size, padded))
    )
    sweeps = next((count for most, count in SWEEPS if columns <= most), SWEEPS[-1][1])
    factor = np.ascontiguousarray(factor)
    compiled(run, size)((0,) * size, sweeps, factor, top, others, leading)
    return top[:count], others[:, :count], leading[:, :count]


def run(size, sweeps, factor, top, others, leading):
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
        for _ in range(sweeps):
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
    """Make the columns at x and y, rows `length` apart, orthogonal; the last row does not count.

    They are rotated by the angle whose tangent is 2γ/(δ ± √(δ² + 4γ²)), the smaller of two, with γ
    their product and δ the difference of their squared lengths.
    """
    b = c.builder
    with c.contexts(length) as first:

        def place(column: ir.Value, i: Number) -> ir.Value:
            return c.at(c.row(tape, column, length, i), first)

        left, right = (c.held(size, lambda i, at=at: c.load(place(at, i))) for at in (x, y))
        own, other, both = c.sums_of(size - 1, (left, left), (right, right), (left, right))
        twice, gap = b.fadd(both, both), b.fsub(other, own)
        root = c.function("sqrt", c.fma(gap, gap, b.fmul(twice, twice)))
        sum_ = b.fadd(b.fadd(c.function("fabs", gap), root), number(TINY))
        tangent = b.fdiv(b.fmul(twice, c.function("copysign", number(1), gap)), sum_)
        cosine = b.fdiv(number(1), c.function("sqrt", c.fma(tangent, tangent, number(1))))
        sine = b.fmul(cosine, tangent)
        for i in c.numbers(0, size):
            one, two = left(i), right(i)
            c.store(c.fma(cosine, one, b.fneg(b.fmul(sine, two))), place(x, i))
            c.store(c.fma(sine, one, b.fmul(cosine, two)), place(y, i))


@operation("size tape x length out y")
def squared_length(c: Code, size, tape, x, length, out, y) -> None:
    """The squared length of the column at x without its last row."""
    with c.contexts(length) as first:
        column = c.held(size - 1, lambda i: c.load(c.at(c.row(tape, x, length, i), first)))
        c.store(*c.sums_of(size - 1, (column, column)), c.at(out, y, first))
