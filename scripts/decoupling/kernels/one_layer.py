"""Risk and gradient of one-layer models in one pass; see `problem.one_layer`."""

from __future__ import annotations

import numpy as np

from . import algebra, jit


def run(
    size, dim, twice, tasks, scores, readouts, prompts, second, cross, first, beta, mass,
    label_power, sigma_x, rows, columns, multiplicity, position,
    value, d_scores, d_readouts, d_prompts,
):  # fmt: skip
    """`size`, `dim`, `twice`, `tasks` are tuples as long as D, d, 2K, K. Seeds are the first axis
    of scores [seeds, d, D] and value, the second of readouts [K or 1, seeds, D] and prompts
    [K or 0, seeds, D]; `second` and `cross` are as many as the readouts. An empty sigma_x is the
    identity. Gradients of readouts are added to `d_readouts`."""
    full, short = len(size), len(dim)
    heads, seeds, _ = readouts.shape
    packed = np.empty((seeds, len(rows)))
    outer = np.zeros((seeds, len(rows)))
    labels = np.zeros((seeds, short * full))
    for r in range(heads):
        for s in range(seeds):
            for p in range(len(rows)):
                both = readouts[r, s, rows[p]] * readouts[r, s, columns[p]]
                packed[s, p] = both * multiplicity[p]
        outer += np.dot(packed, second[r])
        labels += np.dot(readouts[r], cross[r])
    gram = np.empty((len(prompts), seeds, full))
    for k in range(len(prompts)):
        gram[k] = np.dot(readouts[min(k, heads - 1)], first[k])

    weighted = np.empty((seeds, short * full))  # ΣxA₁
    square, form = np.empty((full, full)), np.empty((full, full))  # E[φφᵀ], B = A₁ᵀΣxA₁
    fitted = np.empty((short, full))
    halves, wholes = np.empty((full, len(twice))), np.empty((len(twice), full))
    shifts, overlap = np.empty((short, len(tasks))), np.empty(len(tasks))
    prompt, moved, product, own_gram, pull, back = np.empty((6, len(tasks), full))
    one = (0,)
    for k in range(len(tasks)):
        for i in range(short):
            shifts[i, k] = beta[k, i]
    for s in range(seeds):
        found, own = labels[s].reshape(short, full), weighted[s].reshape(short, full)
        for i in range(full):
            for j in range(full):
                square[i, j] = outer[s, position[i, j]]
        if len(prompts):
            for k in range(len(tasks)):
                r = min(k, heads - 1)
                total = 0.0
                for i in range(full):
                    total += prompts[k, s, i] * readouts[r, s, i]
                overlap[k] = total
                for i in range(full):
                    p = prompts[k, s, i]
                    half = total * (gram[k, s, i] + 0.5 * mass[k] * total * p)
                    halves[i, 2 * k], halves[i, 2 * k + 1] = half, p
                    wholes[2 * k, i], wholes[2 * k + 1, i] = p, half
                    prompt[k, i], moved[k, i] = p, total * p
                    own_gram[k, i] = gram[k, s, i] + mass[k] * total * p
            algebra.product_add(size, twice, size, halves, wholes, square)
            algebra.product_add(dim, tasks, size, shifts, moved, found)
        weigh(dim, size, sigma_x, scores[s], own)
        algebra.product(dim, size, size, scores[s], square, fitted)
        total = label_power
        for i in range(short):
            for j in range(full):
                total += own[i, j] * (fitted[i, j] - 2 * found[i, j])
                found[i, j] = 2 * (fitted[i, j] - found[i, j])
        value[s] = total
        weigh(dim, size, sigma_x, found, d_scores[s])
        algebra.product_transposed(size, dim, size, scores[s], own, form)
        for p in range(len(rows)):
            packed[s, p] = form[rows[p], columns[p]] * multiplicity[p]
        if len(prompts):
            # `pull` is 2(B(E[S]a + mass·pᵀa·p) − (ΣxA₁)ᵀE[β]), `along` its product with p, and
            # `back` pᵀa·Bp, which goes on to the readout
            algebra.product(tasks, size, size, own_gram, form, pull)
            algebra.product(tasks, dim, size, beta, own, product)
            algebra.product(tasks, size, size, moved, form, back)
            for k in range(len(tasks)):
                r = min(k, heads - 1)
                along = 0.0
                for i in range(full):
                    pull[k, i] = 2 * (pull[k, i] - product[k, i])
                    along += prompt[k, i] * pull[k, i]
                algebra.product(one, size, size, back[k], first[k], product[k])
                for i in range(full):
                    d_readouts[r, s, i] += along * prompt[k, i] + 2 * product[k, i]
                    d_prompts[k, s, i] = along * readouts[r, s, i] + overlap[k] * pull[k, i]
    for r in range(heads):
        pulled = np.dot(packed, second[r])
        direct = np.dot(weighted, cross[r].T)
        for s in range(seeds):
            for i in range(full):
                for j in range(full):
                    square[i, j] = pulled[s, position[i, j]]
            algebra.product(one, size, size, readouts[r, s], square, fitted)
            for i in range(full):
                d_readouts[r, s, i] += 2 * (fitted[0, i] - direct[s, i])


@jit
def weigh(dim, size, sigma_x, matrix, out):
    """Σx times a matrix, [d, D]."""
    if len(sigma_x):
        algebra.product(dim, dim, size, sigma_x, matrix, out)
    else:
        for i in range(len(dim)):
            for j in range(len(size)):
                out[i, j] = matrix[i, j]
