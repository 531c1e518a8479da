"""Standard normal numbers from random bits, by Box and Muller: r cos θ and r sin θ.

NumPy makes the bits; this turns 2m words of 32 bits into 2m numbers of single precision, in vector
instructions, several times as fast as NumPy's own normals. The first m words give the radius,
r = √(−2 ln u), the others the angle: their last two bits a quadrant, the rest a place in it.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir

from . import compiled
from .elementary import WORDS, number, polynomial, whole
from .simd import LANES, VECTOR, Code, operation

HALF_ROOT = 0x3F3504F3  # √½ in single precision, as bits

# Taylor series, in the square of their argument: 2 artanh z on |z| ≤ (√2 − 1)²,
# sin and cos of πf/2 on |f| ≤ ½. The omitted terms are below 1e-8.
LOG = [2 / (2 * i + 1) for i in range(5)]
SIN = [(-1) ** i * (math.pi / 2) ** (2 * i + 1) / math.factorial(2 * i + 1) for i in range(5)]
COS = [(-1) ** i * (math.pi / 2) ** (2 * i) / math.factorial(2 * i) for i in range(6)]


def normals(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers in single precision."""
    count = math.prod(shape)
    pairs = -(-count // (2 * LANES)) * LANES
    words = rng.bit_generator.random_raw(pairs).view(np.int32)
    out = np.empty(2 * pairs, np.float32)
    compiled(run)(words, out, pairs)
    return out[:count].reshape(shape)


def run(words, out, pairs):
    _box_muller(words, out, pairs)


@operation("words out pairs")
def _box_muller(c: Code, words, out, pairs) -> None:
    b = c.builder
    with c.contexts(pairs) as start:
        radius = _radius(c, c.load(c.at(words, start), WORDS))
        word = c.load(c.at(words, start, pairs), WORDS)
        f = b.fmul(b.sitofp(b.ashr(word, whole(2)), VECTOR), number(2.0**-30))
        square = b.fmul(f, f)
        sin, cos = b.fmul(f, polynomial(c, SIN, square)), polynomial(c, COS, square)
        # a quarter turn where the last bit is set, half a turn where the one before it is
        quarter = b.icmp_signed("!=", b.and_(word, whole(1)), whole(0))
        sign = b.shl(b.and_(word, whole(2)), whole(30))
        radius = b.bitcast(b.xor(b.bitcast(radius, WORDS), sign), VECTOR)
        across = b.select(quarter, b.fneg(sin), cos)
        up = b.select(quarter, cos, sin)
        c.store(b.fmul(radius, across), c.at(out, start))
        c.store(b.fmul(radius, up), c.at(out, start, pairs))


def _radius(c: Code, word: ir.Value) -> ir.Value:
    """√(−2 ln u), u = (i + ½)2⁻³¹ = m·2^e with m from √½ to √2, and ln m = 2 artanh z."""
    b = c.builder
    numerator = b.fadd(b.sitofp(b.lshr(word, whole(1)), VECTOR), number(0.5))
    bits = b.bitcast(numerator, WORDS)
    exponent = b.ashr(b.sub(bits, whole(HALF_ROOT)), whole(23))
    m = b.bitcast(b.sub(bits, b.shl(exponent, whole(23))), VECTOR)
    z = b.fdiv(b.fsub(m, number(1)), b.fadd(m, number(1)))
    power = b.sitofp(b.sub(exponent, whole(31)), VECTOR)
    log = b.fmul(z, polynomial(c, LOG, b.fmul(z, z)))
    return c.function("sqrt", b.fmul(number(-2), c.fma(power, number(math.log(2)), log)))
