"""Vector instructions, written out: loops over many contexts at once.

Contexts are the last, contiguous axis of every array; LANES of them go through at a time. The sizes
of matrices are known to the compiler: up to WRITTEN_OUT a product is straight code, and a larger
one is loops over tiles whose sums stay in registers. Of such loops in plain code, compilers would
have to prove that arrays do not overlap, and give up.
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
WRITTEN_OUT = 24  # straight code gets too long for larger sizes
SHORT = 4  # rounds of a loop at once, with a sum each, so that none waits for another

Number = ir.Value | int  # an integer in straight code, else a loop's counter


class Code:
    """Writes the instructions of one call, without loops over `sizes` if these are small."""

    def __init__(self, context, builder: ir.IRBuilder, sizes: Sequence[int]) -> None:
        self.context, self.builder = context, builder
        self.straight = max(sizes, default=0) <= WRITTEN_OUT

    def pointer(self, array_type, array) -> ir.Value:
        return self.context.make_array(array_type)(self.context, self.builder, array).data

    def at(self, base: ir.Value, *offsets: ir.Value | int) -> ir.Value:
        for offset in offsets:
            base = self.builder.gep(base, [as_value(offset)])
        return base

    def row(self, base: ir.Value, start: Number, stride: ir.Value, number: Number) -> ir.Value:
        """The place of row `number` of the vector at `start`."""
        return self.at(base, start, self.times(stride, number))

    def plus(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return self.builder.add(as_value(a), as_value(b))

    def times(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.builder.mul(as_value(a), as_value(b))

    def halved(self, a: Number) -> Number:
        return a // 2 if isinstance(a, int) else self.builder.lshr(a, INT(1))

    def least(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        a, b = as_value(a), as_value(b)
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def numbers(self, start: Number, stop: Number, by: int = 1) -> Iterator[Number]:
        """The numbers from `start` to below `stop`. A loop that it writes is complete only when the
        iterator is exhausted."""
        if self.straight:
            yield from range(start, stop, by)
        elif start != stop:
            bounds = as_value(start), as_value(stop), INT(by)
            with cgutils.for_range_slice(self.builder, *bounds, intp=INT) as (number, _):
                yield number

    def step(self, size: int, tile: int) -> int:
        """The size of a tile: in straight code, all."""
        return size if self.straight else tile

    def tiles(self, size: int, by: int, start: Number = 0) -> Iterator[tuple[Number, int]]:
        """Tiles of the numbers from `start`, a multiple of `by`, to below `size`: the first number
        of each, and how many it has."""
        left = size % by
        for first in self.numbers(start, size - left, by):
            yield first, by
        if left:
            yield size - left, left

    def held(self, size: int, load: Callable[[Number], ir.Value]) -> Callable[[Number], ir.Value]:
        """`load` itself in a loop; in straight code everything is loaded now."""
        return [load(i) for i in range(size)].__getitem__ if self.straight else load

    def load(self, place: ir.Value, kind: ir.VectorType = VECTOR) -> ir.Value:
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()), align=4)

    def store(self, value: ir.Value, place: ir.Value) -> None:
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer()), align=4)

    def splat(self, place: ir.Value, kind: ir.VectorType = VECTOR) -> ir.Value:
        """The number at a place, in all lanes."""
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
        """Call one of LLVM's own functions of vectors of one type."""
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

    def sums_of(self, size: int, *products: tuple[Callable, Callable]) -> list[ir.Value]:
        """Σ_i left(i) · right(i) of every (left, right)."""
        parts = 1 if self.straight else SHORT
        found = [Sums(self, parts) for _ in products]
        for first, count in self.tiles(size, SHORT):
            for k in range(count):
                i = self.plus(first, k)
                for sums, (left, right) in zip(found, products, strict=True):
                    sums.add(left(i), right(i), k % parts)
        return [sums.total() for sums in found]

    def total(self, vector: ir.Value) -> ir.Value:
        """The sum of the lanes."""
        kind = ir.FunctionType(FLOAT, [FLOAT, VECTOR])
        name = f"llvm.vector.reduce.fadd.v{LANES}f32"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [FLOAT(0), vector], fastmath=("reassoc",))

    @contextmanager
    def contexts(self, length: ir.Value, *, any_length: bool = False) -> Iterator[ir.Value]:
        """A loop over contexts, LANES at a time. With `any_length`, from LANES on, the last round
        repeats some contexts of the one before."""
        steps = INT(0), length, INT(LANES)
        with cgutils.for_range_slice(self.builder, *steps, intp=INT) as (start, _):
            if any_length:
                last = self.builder.sub(length, INT(LANES))
                over = self.builder.icmp_signed(">", start, last)
                start = self.builder.select(over, last, start)
            yield start


def as_value(number: Number) -> ir.Value:
    return number if isinstance(number, ir.Value) else INT(number)


class Sums:
    """Vectors that loops add to, in registers if there are enough."""

    def __init__(self, c: Code, count: int, start: float = 0.0) -> None:
        self.c = c
        self.places = [cgutils.alloca_once(c.builder, VECTOR) for _ in range(count)]
        for i in range(count):  # now: all rounds of outer loops share the place on the stack
            self.set(ir.Constant(VECTOR, [start] * LANES), i)

    def value(self, i: int = 0) -> ir.Value:
        return self.c.builder.load(self.places[i])

    def set(self, value: ir.Value, i: int = 0) -> None:
        self.c.builder.store(value, self.places[i])

    def add(self, a: ir.Value, b: ir.Value, i: int = 0) -> None:
        self.set(self.c.fma(a, b, self.value(i)), i)

    def add_product(
        self,
        matrix: ir.Value,
        columns: int,
        first: Number,
        vector: Callable[[Number], ir.Value],
    ) -> None:
        """Add rows of Mx, from `first` on, as many as there are sums."""
        for start, count in self.c.tiles(columns, SHORT):
            for j in (self.c.plus(start, k) for k in range(count)):
                self.add_column(matrix, columns, first, j, vector(j))

    def add_column(
        self,
        matrix: ir.Value,
        columns: int,
        first: Number,
        j: Number,
        value: ir.Value,
        skip: int = 0,
    ) -> None:
        for i in range(skip, len(self.places)):
            place = self.c.plus(self.c.times(self.c.plus(first, i), columns), j)
            self.add(self.c.splat(self.c.at(matrix, place)), value, i)

    def total(self) -> ir.Value:
        total = self.value()
        for i in range(1, len(self.places)):
            total = self.c.builder.fadd(total, self.value(i))
        return total


def operation(names: str) -> Callable:
    """Makes an instruction from a function (code, **arguments) that writes it.

    `names` are its arguments: arrays, integers, or tuples that stand for their length (`size`).
    """

    def decorate(write: Callable) -> Callable:
        arguments = names.split()

        def typed(typing_context, *kinds):
            signature = types.void(*kinds)

            def codegen(context, builder, signature, values):
                code = Code(
                    context, builder, [len(x) for x in kinds if isinstance(x, types.BaseTuple)]
                )
                given = {}
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
