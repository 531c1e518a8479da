"""Small linear algebra on many contexts at once, in vector instructions.

Contexts are the last, contiguous axis of every array; LANES of them go through at a time. The sizes
of matrices are known to the compiler, so that a product is straight code: numbers that all contexts
share stay in registers, and nothing has to be proved about what overlaps, which is where compilers
give up on such loops. Arrays are flat, of single precision; `x`, `y`, … are positions in them; the
rows of a vector are `stride` apart; `length` is a multiple of LANES (any for `pack_grams`). The
`product`s at the end are of single small matrices of double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 16
FLOAT, INT = ir.FloatType(), ir.IntType(64)
VECTOR = ir.VectorType(FLOAT, LANES)
TILE = 6, 4  # of `outer`: with AVX-512, 24 sums and some operands are what registers can hold


class Code:
    """What is written for one call."""

    def __init__(self, context, builder: ir.IRBuilder) -> None:
        self.context, self.builder = context, builder

    def pointer(self, array_type, array) -> ir.Value:
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def at(self, base: ir.Value, *offsets: ir.Value | int) -> ir.Value:
        for offset in offsets:
            place = offset if isinstance(offset, ir.Value) else INT(offset)
            base = self.builder.gep(base, [place])
        return base

    def row(self, base: ir.Value, start: ir.Value, stride: ir.Value, number: int) -> ir.Value:
        """Where row `number` of the vector at `start` begins."""
        return self.at(base, start, self.builder.mul(stride, INT(number)))

    def load(self, place: ir.Value, kind: ir.VectorType = VECTOR) -> ir.Value:
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()), align=4)

    def store(self, value: ir.Value, place: ir.Value) -> None:
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()), align=4)

    def splat(self, place: ir.Value, kind: ir.VectorType = VECTOR) -> ir.Value:
        """One number in all lanes."""
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, self.builder.load(place), ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return self.builder.shuffle_vector(first, nothing, zeros)

    def fma(self, a: ir.Value, b: ir.Value, c: ir.Value | None) -> ir.Value:
        """ab + c."""
        if c is None:
            return self.builder.fmul(a, b)
        return self.function("fma", a, b, c)

    def function(self, name: str, *values: ir.Value) -> ir.Value:
        """One of LLVM's own, of vectors of one type."""
        kind = values[0].type
        width = "f32" if kind.element == FLOAT else "f64"
        function = cgutils.get_or_insert_function(
            self.builder.module,
            ir.FunctionType(kind, [kind] * len(values)),
            f"llvm.{name}.v{kind.count}{width}",
        )
        return self.builder.call(function, values)

    def dot(self, left: Sequence[ir.Value], right: Sequence[ir.Value], start=None) -> ir.Value:
        for a, b in zip(left, right, strict=True):
            start = self.fma(a, b, start)
        return start

    def total(self, vector: ir.Value) -> ir.Value:
        """The sum of the lanes."""
        kind = ir.FunctionType(FLOAT, [FLOAT, VECTOR])
        name = f"llvm.vector.reduce.fadd.v{LANES}f32"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [FLOAT(0), vector], fastmath=("reassoc",))

    @contextmanager
    def contexts(self, length: ir.Value, *, any_length: bool = False) -> Iterator[ir.Value]:
        """A loop over contexts, LANES at a time. Of any length from LANES on, the last round
        repeats some of the one before."""
        steps = INT(0), length, INT(LANES)
        with cgutils.for_range_slice(self.builder, *steps, intp=INT) as (start, _):
            if any_length:
                last = self.builder.sub(length, INT(LANES))
                over = self.builder.icmp_signed(">", start, last)
                start = self.builder.select(over, last, start)
            yield start


def operation(names: str) -> Callable:
    """Makes an instruction of a function (code, size, **values) that writes it.

    `names` are its arguments: arrays, tuples whose length is the number that is meant (`size`), or
    integers.
    """

    def decorate(write: Callable) -> Callable:
        arguments = names.split()

        def typed(typing_context, *kinds):
            signature = types.void(*kinds)

            def codegen(context, builder, signature, values):
                code, given = Code(context, builder), {}
                for name, kind, value in zip(arguments, signature.args, values, strict=True):
                    if isinstance(kind, types.BaseTuple):
                        given[name] = len(kind)
                    elif isinstance(kind, types.Array):
                        given[name] = code.pointer(kind, value)
                    else:
                        given[name] = context.cast(builder, value, kind, types.int64)
                write(code, **given)
                return context.get_dummy_value()

            return signature, codegen

        scope: dict = {"typed": typed}
        head = f"def {write.__name__}(typing_context, {', '.join(arguments)})"
        exec(f"{head}: return typed(typing_context, {', '.join(arguments)})", scope)
        return intrinsic(scope[write.__name__])

    return decorate


def _multiply(c: Code, size, matrix, tape, x, y, stride, length, old=None) -> None:
    """By pairs of rows, whose 2·size numbers stay in registers."""
    for first in range(0, size, 2):
        rows = range(first, min(first + 2, size))
        numbers = [[c.splat(c.at(matrix, i * size + j)) for j in range(size)] for i in rows]
        with c.contexts(length) as b:
            values = [c.load(c.at(c.row(tape, x, stride, j), b)) for j in range(size)]
            for i, row in zip(rows, numbers, strict=True):
                start = old and c.load(c.at(c.row(tape, old, stride, i), b))
                c.store(c.dot(row, values, start), c.at(c.row(tape, y, stride, i), b))


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
    with c.contexts(length) as b:
        values = [c.load(c.at(c.row(tape, x, stride, j), b)) for j in range(size)]
        sums = [None] * size
        if prompt is not None:
            numbers = [c.splat(c.at(prompt, j)) for j in range(size)]
            overlap = c.dot(numbers, values)
            c.store(overlap, c.at(along, b))
            sums = [c.fma(number, overlap, None) for number in numbers]
        entry = 0
        for i in range(size):
            for j in range(i, size):
                place = c.at(grams, b, c.builder.mul(length, INT(entry)))
                value = c.load(place)
                sums[i] = c.fma(value, values[j], sums[i])
                if i != j:
                    sums[j] = c.fma(value, values[i], sums[j])
                entry += 1
        for i in range(size):
            c.store(sums[i], c.at(c.row(tape, y, stride, i), b))


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
    rows = range(size - 1)
    with c.contexts(length) as b:
        gaps, error = [], None
        for i in rows:
            beta = c.load(c.at(betas, b, c.builder.mul(length, INT(i))))
            gaps.append(c.builder.fsub(c.load(c.at(c.row(tape, v, stride, i), b)), beta))
        weight = c.load(c.at(weights, b))
        twice = c.builder.fadd(weight, weight)
        for i in rows:
            numbers = [c.splat(c.at(sigma, i * len(rows) + j)) for j in rows]
            product = c.dot(numbers, gaps)
            error = c.fma(product, gaps[i], error)
            c.store(c.builder.fmul(product, twice), c.at(c.row(tape, v, stride, i), b))
        c.store(ir.Constant(VECTOR, None), c.at(c.row(tape, v, stride, size - 1), b))
        c.store(error, c.at(errors, b))


@operation("rows columns left x stride right y right_stride length out")
def outer(c: Code, rows, columns, left, x, stride, right, y, right_stride, length, out) -> None:
    """out += Σ_b x yᵀ, [rows, columns], by tiles whose sums stay in registers."""
    height, width = TILE
    for top in range(0, rows, height):
        for first in range(0, columns, width):
            upright = range(top, min(top + height, rows))
            across = range(first, min(first + width, columns))
            sums = {
                (i, j): cgutils.alloca_once_value(c.builder, ir.Constant(VECTOR, None))
                for i in upright
                for j in across
            }
            for place in sums.values():  # the stack's place is shared by all rounds of outer loops
                c.builder.store(ir.Constant(VECTOR, None), place)
            with c.contexts(length) as b:
                xs = {i: c.load(c.at(c.row(left, x, stride, i), b)) for i in upright}
                ys = {j: c.load(c.at(c.row(right, y, right_stride, j), b)) for j in across}
                for (i, j), place in sums.items():
                    c.builder.store(c.fma(xs[i], ys[j], c.builder.load(place)), place)
            for (i, j), place in sums.items():
                target = c.at(out, i * columns + j)
                total = c.total(c.builder.load(place))
                c.builder.store(c.builder.fadd(c.builder.load(target), total), target)


@operation("size rank chol_x noise beta below diagonal out length")
def pack_grams(c: Code, size, rank, chol_x, noise, beta, below, diagonal, out, length) -> None:
    """See `sampling.pack_grams`. Row i of CB ends at column min(i, rank − 1)."""
    dim = size - 1
    with c.contexts(length, any_length=True) as b:

        def row(array: ir.Value, number: int) -> ir.Value:
            return c.load(c.at(array, b, c.builder.mul(length, INT(number))))

        factor, used = [], 0
        for i in range(size):
            left = [row(below, used + m) for m in range(min(i, rank))]
            used += len(left)
            factor.append([*left, row(diagonal, i)] if i < rank else left)
        rows = []
        for i in range(dim):
            entries = [None] * len(factor[i])
            for j in range(i + 1):
                number = c.splat(c.at(chol_x, i * dim + j))
                for m, value in enumerate(factor[j]):
                    entries[m] = c.fma(number, value, entries[m])
            rows.append(entries)
        label = [c.builder.fmul(c.splat(noise), value) for value in factor[dim]]
        for i in range(dim):
            weight = row(beta, i)
            for m, value in enumerate(rows[i]):
                label[m] = c.fma(weight, value, label[m])
        rows.append(label)
        entry = 0
        for i in range(size):
            for j in range(i, size):
                product = c.dot(rows[i], rows[j][: len(rows[i])])
                c.store(product, c.at(out, b, c.builder.mul(length, INT(entry))))
                entry += 1


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
