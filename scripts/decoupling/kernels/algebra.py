"""Small linear algebra on many contexts at once, in the vector instructions of `simd`.

Arrays are flat, in single precision; `x`, `y`, … are positions in them. A result does not overlap
its operands. The rows of a vector are `stride` apart; `length` is a multiple of LANES (any for
`pack_grams`). The `product`s at the end are of single small matrices in double precision.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from .simd import INT, LANES, VECTOR, Code, Number, Sums, as_value, operation

# Tiles: with AVX-512, registers can hold 24 sums and some operands.
TILE = 6, 4  # of matrices of sums
ROWS = 12  # of a product of a matrix and vectors
GRAM = 6  # of rows and of columns of a Gram matrix, each with sums


def _multiply(c: Code, size, matrix, tape, x, y, stride, length, old=None) -> None:
    with c.contexts(length) as b:

        def place(start: ir.Value, i: Number) -> ir.Value:
            return c.at(c.row(tape, start, stride, i), b)

        for first, height in c.tiles(size, c.step(size, ROWS)):
            sums = Sums(c, height)
            rows = [c.plus(first, k) for k in range(height)]
            for k, i in enumerate(rows if old else ()):
                sums.set(c.load(place(old, i)), k)
            sums.add_product(matrix, size, first, lambda j: c.load(place(x, j)))
            for k, i in enumerate(rows):
                c.store(sums.value(k), place(y, i))


@operation("size matrix tape x y stride length")
def multiply(c: Code, **given) -> None:
    """y ← Mx, M: [size, size]."""
    _multiply(c, **given)


@operation("size matrix tape x y stride length old")
def multiply_add(c: Code, **given) -> None:
    """y ← old + Mx."""
    _multiply(c, **given)


def _gram(c: Code, size, grams, tape, x, y, stride, length, prompt=None, along=None) -> None:
    """Every entry of the packed upper triangle is loaded once, for its two places."""
    by = c.step(size, GRAM)
    with c.contexts(length) as b:

        def place(start: ir.Value, i: Number) -> ir.Value:
            return c.at(c.row(tape, start, stride, i), b)

        def entry(i: Number, j: Number) -> ir.Value:
            return c.load(c.at(grams, b, c.times(length, packed(c, size, i, j))))

        values = c.held(size, lambda j: c.load(place(x, j)))
        start = [lambda i: ir.Constant(VECTOR, None)]
        if prompt is not None:
            numbers = c.held(size, lambda j: c.splat(c.at(prompt, j)))
            (overlap,) = c.sums_of(size, (numbers, values))
            c.store(overlap, c.at(along, b))
            start = [lambda i: c.fma(numbers(i), overlap, None)]
        if by < size:
            for i in c.numbers(0, size):
                c.store(start[0](i), place(y, i))
            start = [lambda i: c.load(place(y, i))]
        for first, height in c.tiles(size, by):
            rows = [c.plus(first, k) for k in range(height)]
            upright = [values(i) for i in rows]
            sums = Sums(c, height)
            for k, i in enumerate(rows):
                sums.set(start[0](i), k)
            for k, i in enumerate(rows):
                for m in range(k, height):
                    value = entry(i, rows[m])
                    sums.add(value, upright[m], k)
                    if k != m:
                        sums.add(value, upright[k], m)
            for left, width in c.tiles(size, by, c.plus(first, by)) if height == by else ():
                columns = [c.plus(left, m) for m in range(width)]
                across = [values(j) for j in columns]
                below = [c.load(place(y, j)) for j in columns]
                for k, i in enumerate(rows):
                    for m, j in enumerate(columns):
                        value = entry(i, j)
                        sums.add(value, across[m], k)
                        below[m] = c.fma(value, upright[k], below[m])
                for m, j in enumerate(columns):
                    c.store(below[m], place(y, j))
            for k, i in enumerate(rows):
                c.store(sums.value(k), place(y, i))


@operation("size grams tape x y stride length")
def gram(c: Code, **given) -> None:
    """y ← Sx, S of every context packed: [P, length]."""
    _gram(c, **given)


@operation("size grams tape x y stride length prompt along")
def gram_prompt(c: Code, **given) -> None:
    """y ← (S + ppᵀ)x; pᵀx goes to `along`, [length]."""
    _gram(c, **given)


@operation("size sigma betas weights tape v stride length errors")
def loss(c: Code, size, sigma, betas, weights, tape, v, stride, length, errors) -> None:
    """(v − β)ᵀΣx(v − β) of every context to `errors`, [length]; v becomes the gradient of their
    weighted sum. The last row of v does not count."""
    dim = size - 1
    gaps = cgutils.alloca_once(c.builder, ir.ArrayType(VECTOR, dim))
    with c.contexts(length) as b:

        def place(i: Number) -> ir.Value:
            return c.at(c.row(tape, v, stride, i), b)

        def gap(i: Number) -> ir.Value:
            return c.builder.gep(gaps, [INT(0), as_value(i)])

        for i in c.numbers(0, dim):
            beta = c.load(c.at(betas, b, c.times(length, i)))
            c.builder.store(c.builder.fsub(c.load(place(i)), beta), gap(i))
        weight = c.load(c.at(weights, b))
        twice = c.builder.fadd(weight, weight)
        error = Sums(c, 1)
        for first, height in c.tiles(dim, c.step(dim, ROWS)):
            products = Sums(c, height)
            products.add_product(sigma, dim, first, lambda j: c.builder.load(gap(j)))
            for k in range(height):
                i = c.plus(first, k)
                error.add(products.value(k), c.builder.load(gap(i)))
                c.store(c.builder.fmul(products.value(k), twice), place(i))
        c.store(ir.Constant(VECTOR, None), place(dim))
        c.store(error.value(), c.at(errors, b))


@operation("rows columns left x stride right y right_stride length out")
def outer(c: Code, rows, columns, left, x, stride, right, y, right_stride, length, out) -> None:
    """out += Σ_b x yᵀ, [rows, columns], by tiles whose sums stay in registers."""
    height, width = TILE
    for top, high in c.tiles(rows, height):
        for first, wide in c.tiles(columns, width):
            upright = [c.plus(top, k) for k in range(high)]
            across = [c.plus(first, m) for m in range(wide)]
            sums = Sums(c, high * wide)
            with c.contexts(length) as b:
                xs = [c.load(c.at(c.row(left, x, stride, i), b)) for i in upright]
                ys = [c.load(c.at(c.row(right, y, right_stride, j), b)) for j in across]
                for k, one in enumerate(xs):
                    for m, other in enumerate(ys):
                        sums.add(one, other, k * wide + m)
            for k, i in enumerate(upright):
                for m, j in enumerate(across):
                    target = c.at(out, c.plus(c.times(i, columns), j))
                    total = c.total(sums.value(k * wide + m))
                    c.builder.store(c.builder.fadd(c.builder.load(target), total), target)


def packed(c: Code, size: int, i: Number, j: Number) -> Number:
    """The place of entry (i, j ≥ i) in an upper triangle that is packed row by row."""
    return c.plus(c.halved(c.times(i, c.plus(2 * size - 1, c.times(i, -1)))), j)


@operation("size rank chol_x noise beta below diagonal factor product out length")
def pack_grams(
    c: Code, size, rank, chol_x, noise, beta, below, diagonal, factor, product, out, length
) -> None:
    """See `sampling.pack_grams`. Row i of CB ends at column min(i, rank − 1). B and CB of LANES
    contexts are in `factor` and `product` meanwhile, [size, rank], which are 0 above the diagonal.
    """
    dim = size - 1
    height, width = (1, rank) if c.straight else TILE
    known: dict[tuple[ir.Value, Number, Number], ir.Value] = {}  # the values, in straight code

    def span(first: Number, count: int) -> list[Number]:
        return [c.plus(first, k) for k in range(count)]

    def place(array: ir.Value, i: Number, m: Number) -> ir.Value:
        return c.at(array, c.times(c.plus(c.times(i, rank), m), LANES))

    def put(value: ir.Value, array: ir.Value, i: Number, m: Number) -> None:
        if not c.straight:
            c.store(value, place(array, i, m))
        elif m <= i:
            known[array, i, m] = value

    def add(sums: Sums, a: ir.Value, array: ir.Value, i: Number, columns: list[Number], at=0):
        """Add `a` times a row of `factor` or `product`, without known zeros."""
        for k, m in enumerate(columns, at):
            value = known.get((array, i, m)) if c.straight else c.load(place(array, i, m))
            if value:
                sums.add(a, value, k)

    with c.contexts(length, any_length=True) as b:

        def row(array: ir.Value, number: Number) -> ir.Value:
            return c.load(c.at(array, b, c.times(length, number)))

        for i in c.numbers(0, rank):
            for m in c.numbers(0, i):
                used = c.halved(c.times(i, c.plus(i, -1)))
                put(row(below, c.plus(used, m)), factor, i, m)
            put(row(diagonal, i), factor, i, i)
        for i in c.numbers(rank, size):
            used = c.plus(c.times(c.plus(i, -rank), rank), rank * (rank - 1) // 2)
            for m in c.numbers(0, rank):
                put(row(below, c.plus(used, m)), factor, i, m)
        for top, high in c.tiles(dim, height):
            for left, wide in c.tiles(rank, width):
                sums = Sums(c, high * wide)
                for j in c.numbers(left, c.plus(top, high)):
                    for k, i in enumerate(span(top, high)):
                        number = c.splat(c.at(chol_x, c.plus(c.times(i, dim), j)))
                        add(sums, number, factor, j, span(left, wide), k * wide)
                for k, i in enumerate(span(top, high)):
                    for l, m in enumerate(span(left, wide)):
                        put(sums.value(k * wide + l), product, i, m)
        for left, wide in c.tiles(rank, width):
            label = Sums(c, wide)
            add(label, c.splat(noise), factor, dim, span(left, wide))
            for i in c.numbers(0, dim):
                add(label, row(beta, i), product, i, span(left, wide))
            for l, m in enumerate(span(left, wide)):
                put(label.value(l), product, dim, m)

        def multiply_rows(upright: list[Number], across: list[Number]) -> None:
            """The part of these products that is in the upper triangle."""
            columns = len(across)
            sums = Sums(c, len(upright) * columns)
            for m in c.numbers(0, c.least(c.plus(upright[-1], 1), rank)):
                values = [
                    [
                        known[product, i, m] if c.straight else c.load(place(product, i, m))
                        for i in rows
                    ]
                    for rows in (upright, across)
                ]
                for k, one in enumerate(values[0]):
                    for l, other in enumerate(values[1]):
                        if upright != across or k <= l:
                            sums.add(one, other, k * columns + l)
            for k, i in enumerate(upright):
                for l, j in enumerate(across):
                    if upright != across or k <= l:
                        entry = c.at(out, b, c.times(length, packed(c, size, i, j)))
                        c.store(sums.value(k * columns + l), entry)

        by = 1 if c.straight else TILE[1]
        for top, high in c.tiles(size, by):
            upright = span(top, high)
            multiply_rows(upright, upright)
            for left, wide in c.tiles(size, by, c.plus(top, by)) if high == by else ():
                multiply_rows(upright, span(left, wide))


def _product(c: Code, rows, inner, columns, left, right, out, *, transposed, added) -> None:
    """Rows of the right matrix are vectors, so that a row of the result is a sum of them."""
    kind = ir.VectorType(ir.DoubleType(), columns)
    vectors = [c.load(c.at(right, m * columns), kind) for m in range(inner)]
    for i in range(rows):
        places = [m * rows + i if transposed else i * inner + m for m in range(inner)]
        numbers = [c.splat(c.at(left, place), kind) for place in places]
        target = c.at(out, i * columns)
        c.store(c.dot(numbers, vectors, c.load(target, kind) if added else None), target)


@operation("rows inner columns left right out")
def product(c: Code, **given) -> None:
    """out ← left · right, matrices of double precision that do not overlap."""
    _product(c, **given, transposed=False, added=False)


@operation("rows inner columns left right out")
def product_transposed(c: Code, **given) -> None:
    """out ← leftᵀ · right."""
    _product(c, **given, transposed=True, added=False)


@operation("rows inner columns left right out")
def product_add(c: Code, **given) -> None:
    """out ← out + left · right."""
    _product(c, **given, transposed=False, added=True)
