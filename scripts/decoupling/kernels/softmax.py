"""Risk and gradient of softmax attention's query row, in one compiled pass over blocks of contexts.

With u = WkWqᵀx̃ and a the head's readout, a head gives y = Σ_i w_i aᵀz_i, where w is the softmax of
uᵀz_i over the tokens, the prompt among them. Its gradients need two means over the tokens and no
second pass over them: m = Σ_i w_i z_i for a, and c = Σ_i w_i (aᵀz_i − r) z_i for u, as ∂y/∂u = c −
(y − r)m for any r. Here r is the value aᵀz of the token with the highest score: then both terms
vanish, instead of cancelling, if one token has all the weight. No array has a number per seed,
context and token.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from . import algebra
from .elementary import exponential, number
from .simd import INT, LANES, Code, Number, Sums, operation

BLOCK = 64  # contexts of one task at a time
MEANS = 12  # entries of both means at a time, if all are too many


def _attend(
    c: Code, size, tokens, count, readout, tape, u, y, length, kept,
    m=None, means=None, prompt=None, share=None,
) -> None:  # fmt: skip
    """All of the operations below. Arguments that one of them lacks are None."""
    b = c.builder
    one = number(1)
    numbers = c.held(size, lambda j: c.splat(c.at(readout, j)))
    own = c.held(size, lambda j: c.splat(c.at(prompt, j))) if prompt is not None else None
    with c.contexts(length) as first:

        def row(base: ir.Value, start: Number, j: Number) -> ir.Value:
            return c.at(c.row(base, start, length, j), first)

        def token(i: ir.Value, j: Number) -> ir.Value:
            return c.load(row(tokens, b.mul(b.mul(i, INT(size)), length), j))

        def keep(i: ir.Value) -> tuple[ir.Value, ir.Value]:
            """The places of two numbers of a token: its score and its value, then what it adds to
            `mass` and to `surplus`."""
            start = b.mul(i, INT(2 * LANES))
            return c.at(kept, start), c.at(kept, start, LANES)

        score = c.held(size, lambda j: c.load(row(tape, u, j)))
        top, value_there = Sums(c, 1, -math.inf), Sums(c, 1)  # r is the latter
        if own:
            of_prompt, value_of_prompt = c.sums_of(size, (own, score), (numbers, own))
            top.set(of_prompt)
            value_there.set(value_of_prompt)
        with cgutils.for_range(b, count, intp=INT) as loop:
            values = c.held(size, lambda j: token(loop.index, j))
            found, reading = c.sums_of(size, (score, values), (numbers, values))
            for result, place in zip((found, reading), keep(loop.index), strict=True):
                c.store(result, place)
            higher = b.fcmp_ordered(">", found, top.value())
            top.set(b.select(higher, found, top.value()))
            value_there.set(b.select(higher, reading, value_there.value()))
        mass, surplus = Sums(c, 1), Sums(c, 1)  # Σ e and Σ e(aᵀz − r)

        def add(score: ir.Value, reading: ir.Value) -> tuple[ir.Value, ir.Value]:
            weight = exponential(c, b.fsub(score, top.value()))
            relative = b.fmul(weight, b.fsub(reading, value_there.value()))
            mass.add(weight, one)
            surplus.add(relative, one)
            return weight, relative

        if own:
            shares = add(of_prompt, value_of_prompt)
            c.store(shares[0], c.at(tape, share, first))
        with cgutils.for_range(b, count, intp=INT) as loop:
            found = add(*(c.load(place) for place in keep(loop.index)))
            if m is not None:
                for result, place in zip(found, keep(loop.index), strict=True):
                    c.store(result, place)
        scale = b.fdiv(one, mass.value())
        above = b.fmul(surplus.value(), scale)
        c.store(b.fadd(above, value_there.value()), c.at(tape, y, first))
        if m is not None:
            c.store(above, c.at(c.row(tape, y, length, 1), first))
            for left, wide in c.tiles(size, c.step(size, MEANS)):
                columns = [c.plus(left, k) for k in range(wide)]
                near, far = Sums(c, wide), Sums(c, wide)  # Σ ez, Σ e(…)z
                for k, j in enumerate(columns if own else ()):
                    near.add(shares[0], own(j), k)
                    far.add(shares[1], own(j), k)
                with cgutils.for_range(b, count, intp=INT) as loop:
                    weight, relative = (c.load(place) for place in keep(loop.index))
                    for k, j in enumerate(columns):
                        value = token(loop.index, j)
                        near.add(weight, value, k)
                        far.add(relative, value, k)
                for sums, start in ((near, m), (far, means)):
                    for k, j in enumerate(columns):
                        c.store(b.fmul(sums.value(k), scale), row(tape, start, j))
        if own:
            place = c.at(tape, share, first)
            c.store(b.fmul(c.load(place), scale), place)


@operation("size tokens count readout tape u y length kept")
def predict(c: Code, **given) -> None:
    """y ← Σ w_i aᵀz_i for every context, from its u, [size, length], and tokens, [count, size,
    length]. `kept` is for the tokens' scores and values of LANES contexts."""
    _attend(c, **given)


@operation("size tokens count readout tape u y length kept prompt share")
def predict_prompt(c: Code, **given) -> None:
    """The same with a prompt in front, whose weight goes to `share`."""
    _attend(c, **given)


@operation("size tokens count readout tape u y length kept m means")
def attend(c: Code, **given) -> None:
    """The same as `predict`; m and c (`means`) go to the tape too, and y − r to the row after y."""
    _attend(c, **given)


@operation("size tokens count readout tape u y length kept m means prompt share")
def attend_prompt(c: Code, **given) -> None:
    _attend(c, **given)


@operation("tape y stride heads targets weights length errors pull")
def loss(c: Code, tape, y, stride, heads, targets, weights, length, errors, pull) -> None:
    """The squared error of Σ_h y_h to `errors`; the gradient of their weighted sum to `pull`."""
    b = c.builder
    with c.contexts(length) as first:
        gap = Sums(c, 1)
        gap.set(b.fneg(c.load(c.at(targets, first))))
        with cgutils.for_range(b, heads, intp=INT) as loop:
            place = c.at(tape, y, b.mul(loop.index, stride), first)
            gap.set(b.fadd(gap.value(), c.load(place)))
        found = gap.value()
        c.store(b.fmul(found, found), c.at(errors, first))
        weight = c.load(c.at(weights, first))
        c.store(b.fmul(found, b.fadd(weight, weight)), c.at(tape, pull, first))


@operation("size tape y m means pull length")
def turn(c: Code, size, tape, y, m, means, pull, length) -> None:
    """c becomes the gradient of u, g(c − (y − r)m) with g at `pull`."""
    b = c.builder
    with c.contexts(length) as first:
        g = c.load(c.at(tape, pull, first))
        back = b.fneg(c.load(c.at(c.row(tape, y, length, 1), first)))
        for j in c.numbers(0, size):
            place = c.at(c.row(tape, means, length, j), first)
            gap = c.fma(back, c.load(c.at(c.row(tape, m, length, j), first)), c.load(place))
            c.store(b.fmul(g, gap), place)


@operation("size readout prompt tape y share pull length score value")
def turn_prompt(c: Code, size, readout, prompt, tape, y, share, pull, length, score, value) -> None:
    """The gradients of the prompt's score, gw(aᵀp − y), and of its value aᵀp, gw."""
    b = c.builder
    (reading,) = c.sums_of(size, [lambda j, x=x: c.splat(c.at(x, j)) for x in (readout, prompt)])
    with c.contexts(length) as first:
        g, weight = c.load(c.at(tape, pull, first)), c.load(c.at(tape, share, first))
        of_value = b.fmul(g, weight)
        whole, above = (c.load(c.at(c.row(tape, y, length, i), first)) for i in range(2))
        gap = b.fsub(b.fsub(reading, b.fsub(whole, above)), above)  # (aᵀp − r) − (y − r)
        c.store(of_value, c.at(tape, value, first))
        c.store(b.fmul(of_value, gap), c.at(tape, score, first))


def run(
    size, one, with_gradient, prompted,
    tokens, queries, targets, weights, tasks, scores, readouts, prompts,
    errors, d_scores, d_readouts, d_prompts,
):  # fmt: skip
    """Every seed's errors, [seeds, blocks, BLOCK], and its gradients, added to the arguments `d_…`.

    `size` and `one` are tuples as long as D and 1. Blocks of contexts: tokens [blocks, n, D·BLOCK],
    queries (with the label 0) [blocks, D·BLOCK], targets and weights [blocks, BLOCK], tasks
    [blocks]. Seeds: scores (WkWqᵀ) [seeds, H, D·D], readouts [seeds, K, H, D], prompts
    [seeds, K, D].
    """
    rows = len(size)
    count = tokens.shape[1]
    seeds, heads, _ = scores.shape
    # The tape, in rows of a block: the query, the pull, then of every head u, m, c and five rows.
    step = (3 * rows + 5) * BLOCK
    pull = rows * BLOCK
    tape = np.zeros((rows + 1) * BLOCK + heads * step, np.float32)
    kept = np.zeros(2 * count * LANES, np.float32)
    ones = np.ones(BLOCK, np.float32)
    for block in range(len(tokens)):
        task = tasks[block]
        tape[: rows * BLOCK] = queries[block]
        found = tokens[block].reshape(-1)
        for seed in range(seeds):
            for head in range(heads):
                u = (rows + 1) * BLOCK + head * step
                m, means = u + rows * BLOCK, u + 2 * rows * BLOCK
                y, share = u + 3 * rows * BLOCK, u + (3 * rows + 2) * BLOCK
                readout = readouts[seed, task, head]
                algebra.multiply(size, scores[seed, head], tape, 0, u, BLOCK, BLOCK)
                if prompted:
                    prompt = prompts[seed, task]
                    if with_gradient:
                        attend_prompt(
                            size, found, count, readout, tape, u, y, BLOCK, kept, m, means,
                            prompt, share,
                        )  # fmt: skip
                    else:
                        predict_prompt(
                            size, found, count, readout, tape, u, y, BLOCK, kept, prompt, share
                        )
                elif with_gradient:
                    attend(size, found, count, readout, tape, u, y, BLOCK, kept, m, means)
                else:
                    predict(size, found, count, readout, tape, u, y, BLOCK, kept)
            first = (rows + 1 + 3 * rows) * BLOCK
            loss(
                tape, first, step, heads, targets[block], weights[block], BLOCK,
                errors[seed, block], pull,
            )  # fmt: skip
            if not with_gradient:
                continue
            for head in range(heads):
                u = (rows + 1) * BLOCK + head * step
                m, means = u + rows * BLOCK, u + 2 * rows * BLOCK
                y, share = u + 3 * rows * BLOCK, u + (3 * rows + 2) * BLOCK
                of_score, of_value = u + (3 * rows + 3) * BLOCK, u + (3 * rows + 4) * BLOCK
                readout = readouts[seed, task, head]
                turn(size, tape, y, m, means, pull, BLOCK)
                algebra.outer(
                    size, size, tape, means, BLOCK, tape, 0, BLOCK, BLOCK, d_scores[seed, head]
                )
                algebra.outer(
                    size, one, tape, m, BLOCK, tape, pull, 0, BLOCK, d_readouts[seed, task, head]
                )
                if prompted:
                    prompt, grad = prompts[seed, task], d_prompts[seed, task]
                    turn_prompt(
                        size, readout, prompt, tape, y, share, pull, BLOCK, of_score, of_value
                    )
                    algebra.outer(size, one, tape, u, BLOCK, tape, of_score, 0, BLOCK, grad)
                    total = np.zeros(1, np.float32)
                    algebra.outer(one, one, tape, of_value, 0, ones, 0, 0, BLOCK, total)
                    grad += total[0] * readout
