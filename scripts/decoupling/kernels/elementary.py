"""Elementary functions of vectors, written out: LLVM's own are calls for every lane."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from llvmlite import ir

from .simd import LANES, VECTOR, Code

WORDS = ir.VectorType(ir.IntType(32), LANES)
LOWEST = -87.0  # its exponential is about the least number that single precision has in full
EXP = [1 / math.factorial(i) for i in range(8)]  # on |r| ≤ ½ ln 2; the omitted terms are below 1e-8
LN2_HIGH = 0.693359375  # few digits, so that whole multiples are exact; the rest of ln 2:
LN2_LOW = math.log(2) - LN2_HIGH


def number(value: float) -> ir.Value:
    """The number in all lanes."""
    return ir.Constant(VECTOR, [float(np.float32(value))] * LANES)


def whole(value: int) -> ir.Value:
    return ir.Constant(WORDS, [value] * LANES)


def polynomial(c: Code, coefficients: Sequence[float], x: ir.Value) -> ir.Value:
    """Coefficients from the constant one on."""
    value, *rest = (number(coefficient) for coefficient in reversed(coefficients))
    for coefficient in rest:
        value = c.fma(value, x, coefficient)
    return value


def exponential(c: Code, x: ir.Value) -> ir.Value:
    """eˣ for x ≤ 0; 0 below LOWEST; NaN stays NaN. x = k ln 2 + r."""
    b, low = c.builder, number(LOWEST)
    vanishes = b.fcmp_ordered("<", x, low)
    x = b.select(vanishes, low, x)
    k = c.function("rint", b.fmul(x, number(1 / math.log(2))))
    r = c.fma(k, number(-LN2_LOW), c.fma(k, number(-LN2_HIGH), x))
    power = b.shl(b.add(b.fptosi(k, WORDS), whole(127)), whole(23))
    found = b.fmul(polynomial(c, EXP, r), b.bitcast(power, VECTOR))
    return b.select(vanishes, number(0), found)
