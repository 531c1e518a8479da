"""Exact risk and gradient of one layer on Gaussian data in one pass; see
`problem.gaussian_moments` for the mathematics and the names.
"""

from __future__ import annotations

import numba
import numpy as np

from . import OPTIONS, algebra
from .one_layer import weigh

# Inlined in their caller: as separate functions they take twice the time.
jit = numba.njit(inline="always", **OPTIONS)


def run(
    size, dim, twice, tasks, scores, readouts, prompts,
    n, weights, omega, beta_cov, slope_cov, label_cov, gram, beta, label_power, sigma_x,
    value, d_scores, d_readouts, d_prompts,
):  # fmt: skip
    """`size`, `dim`, `twice`, `tasks` are tuples as long as D, d, 2K, K. Seeds are the first axis
    of scores [seeds, d, D] and value, the second of readouts [K or 1, seeds, D] and prompts
    [K or 0, seeds, D]. An empty sigma_x is the identity. Gradients of readouts are added to
    `d_readouts`."""
    full, short, count = len(size), len(dim), len(tasks)
    heads, seeds, _ = readouts.shape
    outer, form = np.empty((2, full, full))  # E[φφᵀ], B = A₁ᵀΣxA₁
    labels, own, fitted = np.empty((3, short, full))  # E[βφᵀ], ΣxA₁
    left = np.empty((full, 2 * count))
    both, pulled = np.empty((2, 2 * count, full))  # E[Ω]a of every task and E[φ]; times B
    shifts, overlap = np.empty((short, count)), np.empty(count)
    cov_b, product = np.empty((2, count, full))
    work, along = np.empty((3, full)), np.empty(short)
    for k in range(count):
        for i in range(short):
            shifts[i, k] = weights[k] * beta[k, i]
    for s in range(seeds):
        outer[:], labels[:] = 0, 0
        for k in range(count):
            a = readouts[min(k, heads - 1), s]
            token, mean = both[k], both[count + k]
            overlap[k] = _means(size, a, omega[k], gram[k], prompts[k : k + 1, s], token, mean)
            for i in range(full):
                left[i, k] = n * weights[k] * token[i]
                left[i, count + k] = weights[k] * mean[i]
            _covariances(
                size, dim, n, weights[k], a, token,
                omega[k], label_cov[k], beta_cov[k], slope_cov[k], cov_b[k], along, outer, labels,
            )  # fmt: skip
        algebra.product_add(size, twice, size, left, both, outer)
        algebra.product_add(dim, tasks, size, shifts, both[count:], labels)

        weigh(dim, size, sigma_x, scores[s], own)
        algebra.product(dim, size, size, scores[s], outer, fitted)
        total = label_power
        for i in range(short):
            for j in range(full):
                total += own[i, j] * (fitted[i, j] - 2 * labels[i, j])
                labels[i, j] = 2 * (fitted[i, j] - labels[i, j])
        value[s] = total
        weigh(dim, size, sigma_x, labels, d_scores[s])
        algebra.product_transposed(size, dim, size, scores[s], own, form)

        algebra.product(twice, size, size, both, form, pulled)
        algebra.product(tasks, dim, size, beta, own, product)
        for k in range(count):
            row = min(k, heads - 1)
            a, pull, weight = readouts[row, s], pulled[count + k], 2 * weights[k]
            for i in range(full):
                pull[i] -= product[k, i]
            grad = product[k]
            _pull(
                size, dim, n, a, both[k], pulled[k], pull, form, own,
                omega[k], label_cov[k], beta_cov[k], gram[k], cov_b[k], work, along, grad,
            )  # fmt: skip
            if len(prompts):
                total = 0.0
                for i in range(full):
                    total += prompts[k, s, i] * pull[i]
                for i in range(full):
                    grad[i] += total * prompts[k, s, i]
                    d_prompts[k, s, i] = weight * (overlap[k] * pull[i] + total * a[i])
            for i in range(full):
                d_readouts[row, s, i] += weight * grad[i]


@jit
def _means(size, a, omega, gram, prompt, token, mean):
    """E[Ω]a and E[φ], with the prompt if there is one; its overlap with the readout."""
    algebra.product((0,), size, size, a, omega, token)
    algebra.product((0,), size, size, a, gram, mean)
    overlap = 0.0
    for own in prompt:
        for i in range(len(size)):
            overlap += own[i] * a[i]
        for i in range(len(size)):
            mean[i] += overlap * own[i]
    return overlap


@jit
def _covariances(
    size, dim, n, weight, a, token,
    omega, label_cov, beta_cov, slope_cov, cov_b, along, outer, labels,
):  # fmt: skip
    """Add a task's part of Cov(β, Sa), and of Cov(Sa) without the product of tokens."""
    full, short = len(size), len(dim)
    last, twice = a[short], n * n + n
    algebra.product((0,), size, size, a, label_cov, cov_b)
    inner, b_cov_b = 0.0, 0.0
    for i in range(full):
        cov_b[i] -= last * label_cov[short, i]
        inner += a[i] * token[i]
    to_cov, to_omega, to_beta = twice * weight * last**2, n * weight * inner, n * weight * last
    for i in range(full):
        for j in range(full):
            outer[i, j] += to_cov * label_cov[i, j] + to_omega * omega[i, j]
    for i in range(full):
        cross = last * (2 * cov_b[i] + last * label_cov[short, i])
        edge = weight * (twice * last * cov_b[i] + n * cross)
        outer[i, short] += edge
        outer[short, i] += edge
    for i in range(short):
        b_cov_b += a[i] * cov_b[i]
    outer[short, short] += weight * (twice * b_cov_b - n * cross)
    algebra.product((0,), dim, dim, a, slope_cov, along)
    for i in range(short):
        labels[i, short] += n * weight * along[i]
        for j in range(full):
            labels[i, j] += to_beta * beta_cov[i, j]


@jit
def _pull(
    size, dim, n, a, token, form_token, pull, form, own,
    omega, label_cov, beta_cov, gram, cov_b, work, column, grad,
):  # fmt: skip
    """Half the gradient with respect to a task's readout, without prompts, divided by the task's
    weight."""
    full, short, one = len(size), len(dim), (0,)
    last, corner, twice = a[short], form[short, short], n * n + n
    row, linear, direct = work[0], work[1], work[2]
    algebra.product(one, size, size, form[short], label_cov, row)
    algebra.product(one, size, size, form_token, omega, linear)
    algebra.product(one, size, size, pull, gram, grad)
    for i in range(short):
        column[i] = own[i, short]
    algebra.product(one, dim, size, column, beta_cov, direct)
    cov_form, omega_form, beta_own, edge = 0.0, 0.0, 0.0, 0.0
    for i in range(full):
        for j in range(full):
            cov_form += label_cov[i, j] * form[i, j]
            omega_form += omega[i, j] * form[i, j]
    for i in range(short):
        for j in range(full):
            beta_own += beta_cov[i, j] * own[i, j]
    for i in range(full):
        slope = 2 * row[i] - corner * label_cov[short, i]
        grad[i] += n * (linear[i] + omega_form * token[i] + last * slope)
        if i < short:
            grad[i] += twice * (last * row[i] + corner * cov_b[i]) - n * direct[i]
            edge += (twice * row[i] + n * slope) * a[i]
    grad[short] += twice * last * cov_form - n * beta_own + edge
