"use strict";
// The closed forms of scripts/decoupling/theory/theorems.py for Σx = I, under the same names.
// tests/system/test_explorer.py compares the two.
//
// Notation: S̃ biased, S̄ debiased covariance, M = S̃ − S̄, t̃ = tr S̃ + σ² = E[y²], t̄ = tr S̄ + σ².

const Theory = (() => {
  // A d×d matrix is its d² entries, row by row, in plain loops: that is what engines make fast.
  const dimension = (a) => Math.sqrt(a.length);

  function diagonal(values) {
    const made = new Float64Array(values.length ** 2);
    values.forEach((value, i) => (made[i * (values.length + 1)] = value));
    return made;
  }

  function outer(a, b = a) {
    const made = new Float64Array(a.length ** 2);
    for (let i = 0; i < a.length; i++)
      for (let j = 0; j < a.length; j++) made[i * a.length + j] = a[i] * b[j];
    return made;
  }

  /** A with one more row and column. */
  function bordered(a, border, corner) {
    const dim = border.length;
    const made = new Float64Array((dim + 1) ** 2);
    for (let i = 0; i < dim; i++) {
      for (let j = 0; j < dim; j++) made[i * (dim + 1) + j] = a[i * dim + j];
      made[i * (dim + 1) + dim] = made[dim * (dim + 1) + i] = border[i];
    }
    made[made.length - 1] = corner;
    return made;
  }

  function scale(c, a) {
    const made = new Float64Array(a.length);
    for (let i = 0; i < a.length; i++) made[i] = c * a[i];
    return made;
  }

  function add(a, b) {
    const made = new Float64Array(a.length);
    for (let i = 0; i < a.length; i++) made[i] = a[i] + b[i];
    return made;
  }

  /** A + cI */
  function shift(a, c) {
    const made = a.slice();
    for (let i = 0; i < a.length; i += dimension(a) + 1) made[i] += c;
    return made;
  }

  function transpose(a) {
    const dim = dimension(a);
    const made = new Float64Array(a.length);
    for (let i = 0; i < dim; i++) for (let j = 0; j < dim; j++) made[j * dim + i] = a[i * dim + j];
    return made;
  }

  function multiply(a, b) {
    const dim = dimension(a);
    const made = new Float64Array(a.length);
    for (let i = 0; i < dim; i++)
      for (let k = 0; k < dim; k++) {
        const value = a[i * dim + k];
        for (let j = 0; j < dim; j++) made[i * dim + j] += value * b[k * dim + j];
      }
    return made;
  }

  function trace(a) {
    let sum = 0;
    for (let i = 0; i < a.length; i += dimension(a) + 1) sum += a[i];
    return sum;
  }

  /** tr(AB), without the product. */
  function traceOfProduct(a, b) {
    const dim = dimension(a);
    let sum = 0;
    for (let i = 0; i < dim; i++) for (let j = 0; j < dim; j++) sum += a[i * dim + j] * b[j * dim + i];
    return sum;
  }

  /** X with AX = B, by elimination with partial pivoting. */
  function solve(a, b) {
    const dim = dimension(a);
    const left = a.slice();
    const right = b.slice();
    for (let k = 0; k < dim; k++) {
      let pivot = k;
      for (let i = k + 1; i < dim; i++)
        if (Math.abs(left[i * dim + k]) > Math.abs(left[pivot * dim + k])) pivot = i;
      swapRows(left, dim, k, pivot);
      swapRows(right, dim, k, pivot);
      for (let i = k + 1; i < dim; i++) {
        const factor = left[i * dim + k] / left[k * dim + k];
        subtractRow(left, dim, i, factor, k, k); // before column k, row k is 0
        subtractRow(right, dim, i, factor, k);
      }
    }
    for (let k = dim - 1; k >= 0; k--) {
      for (let j = 0; j < dim; j++) right[k * dim + j] /= left[k * dim + k];
      for (let i = 0; i < k; i++) subtractRow(right, dim, i, left[i * dim + k], k);
    }
    return right;
  }

  /** Row i less a multiple of row k, from a column on. */
  function subtractRow(a, dim, i, factor, k, column = 0) {
    for (let j = column; j < dim; j++) a[i * dim + j] -= factor * a[k * dim + j];
  }

  function swapRows(a, dim, i, j) {
    if (i === j) return;
    for (let k = 0; k < dim; k++) [a[i * dim + k], a[j * dim + k]] = [a[j * dim + k], a[i * dim + k]];
  }

  /** K tasks: weights π_k, means μ_k, covariances Σ_k; σ² is noiseVar. */
  class Mixture {
    constructor(weights, means, covs, noiseVar) {
      Object.assign(this, { weights, means, covs, noiseVar, dim: means[0].length });
      this.debiasedCov = covs.map((cov, k) => scale(weights[k], cov)).reduce(add); // S̄
      this.meanOuter = means.map((mean, k) => scale(weights[k], outer(mean))).reduce(add); // M
      this.biasedCov = add(this.debiasedCov, this.meanOuter); // S̃
      this.labelPower = trace(this.biasedCov) + noiseVar; // t̃
      this.commonMean = means[0].map((_, i) => means.reduce((sum, mean, k) => sum + weights[k] * mean[i], 0)); // μ̄
    }

    /** Of the page's controls: means c_k·1, covariances s_k·B with a diagonal B, I if there is none. */
    static of({ d, weights, means, covs, cov_base, noise_var }) {
      const base = diagonal(cov_base ?? new Array(d).fill(1));
      return new Mixture(
        weights,
        means.map((mean) => new Array(d).fill(mean)),
        covs.map((c) => scale(c, base)),
        noise_var,
      );
    }

    /** The same mixture with μ_k − μ̄ for μ_k. */
    get centred() {
      const means = () => this.means.map((mean) => mean.map((value, i) => value - this.commonMean[i]));
      return (this._centred ??= new Mixture(this.weights, means(), this.covs, this.noiseVar));
    }

    /** One task with the mixture's mean and covariance. */
    get merged() {
      return (this._merged ??= new Mixture([1], [this.commonMean], [this.centred.biasedCov], this.noiseVar));
    }
  }

  /** cov · inverse⁻¹ */
  const preconditioner = (cov, inverse) => transpose(solve(transpose(inverse), transpose(cov)));

  /** Theorem 1: W = S̃((n+1)S̃ + t̃I)⁻¹. */
  function plain(mix, n) {
    const cov = mix.biasedCov;
    const weight = preconditioner(cov, shift(scale(n + 1, cov), mix.labelPower));
    return { weight, risk: mix.labelPower - n * traceOfProduct(weight, cov) };
  }

  /** Theorem 2: the best prompts on Theorem 1's W; gain tr(R M Rᵀ) with R = nW − I. */
  function finetune(mix, n) {
    const base = plain(mix, n);
    const rest = shift(scale(n, base.weight), -1);
    const gain = traceOfProduct(multiply(rest, mix.meanOuter), transpose(rest));
    return { weight: base.weight, risk: base.risk - gain };
  }

  /** Theorem 3: W = S̄((n+1)S̄ + t̃I + M)⁻¹. */
  function joint(mix, n) {
    const cov = mix.debiasedCov;
    const inverse = add(shift(scale(n + 1, cov), mix.labelPower), mix.meanOuter);
    return debiased(mix, n, preconditioner(cov, inverse));
  }

  /** Theorem 4: W = S̄((n+1)S̄ + t̄I)⁻¹. */
  function jointHeads(mix, n) {
    const cov = mix.debiasedCov;
    const power = trace(cov) + mix.noiseVar;
    return debiased(mix, n, preconditioner(cov, shift(scale(n + 1, cov), power)));
  }

  /** t̄ − n tr(WS̄). */
  function debiased(mix, n, weight) {
    const cov = mix.debiasedCov;
    return { weight, risk: trace(cov) + mix.noiseVar - n * traceOfProduct(weight, cov) };
  }

  /** One prompt for all tasks: Theorem 3 of the mixture as one task. */
  const shared = (mix, n) => joint(mix.merged, n);

  /** Theorem 3 without the common mean, which attention reaches without Assumption 1. */
  const jointCentred = (mix, n) => joint(mix.centred, n);

  /** The same for one prompt: nothing is left for it to learn. */
  const sharedCentred = (mix, n) => plain(mix.centred, n);

  /** Without the common mean, where the query also reads the label energy: A, B and E with F = n(A + nB)
   * and G = nE of theory/label_energy.py, E with a row of zeros; `power` is the risk without a context.
   * Of a centred mixture; `together`, with one prompt for all tasks. */
  function energyMoments({ weights, means, covs, noiseVar, dim, debiasedCov, labelPower }, together) {
    const size = dim + 1;
    const identity = shift(new Float64Array(dim ** 2), 1);
    const square = means.map((mean) => mean.reduce((sum, value) => sum + value * value, 0));
    const labels = means.map((mean, k) => [...mean, trace(covs[k]) + square[k] + noiseVar]); // m
    const average = labels[0].map((_, i) => labels.reduce((sum, label, k) => sum + weights[k] * label[i], 0));
    const parts = means.map((mean, k) => {
      const image = mean.map((_, i) => mean.reduce((sum, value, j) => sum + covs[k][i * dim + j] * value, 0));
      const border = image.map((value) => 2 * value);
      const along = mean.reduce((sum, value, i) => sum + value * image[i], 0);
      const corner = 2 * traceOfProduct(covs[k], covs[k]) + 4 * along;
      const labelCov = bordered(covs[k], border, corner); // C
      const power = labels[k][dim];
      const omega = scale(power, bordered(identity, mean, power));
      const varying = add(omega, bordered(new Float64Array(dim ** 2), border, corner));
      const left = labels[k].map((value, i) => (together ? value - average[i] : 0));
      const cross = add(labelCov, outer([...mean, 0], left));
      cross.fill(0, dim * size);
      const found = { a: add(add(outer(labels[k]), labelCov), varying), b: add(labelCov, outer(left)), cross };
      return Object.fromEntries(Object.entries(found).map(([name, array]) => [name, scale(weights[k], array)]));
    });
    const sum = (name) => parts.map((part) => part[name]).reduce(add);
    const power = together ? labelPower : trace(debiasedCov) + noiseVar;
    return { a: sum("a"), b: sum("b"), cross: sum("cross"), power };
  }

  function energy(mix, n, together) {
    const found = (mix[together ? "_sharedEnergy" : "_jointEnergy"] ??= energyMoments(mix.centred, together));
    const fitted = solve(add(found.a, scale(n, found.b)), transpose(found.cross));
    return { risk: Math.max(found.power - n * traceOfProduct(found.cross, fitted), mix.noiseVar) };
  }

  const jointEnergy = (mix, n) => energy(mix, n, false);
  const sharedEnergy = (mix, n) => energy(mix, n, true);

  const CLOSED_FORMS = {
    theorem: { plain, finetune, joint, joint_heads: jointHeads, shared },
    centred: { joint: jointCentred, shared: sharedCentred },
    energy: { joint: jointEnergy, shared: sharedEnergy },
  };

  /** The Bayes-optimal risk of the page's controls where it has a closed form, else null: without
   * noise, d examples tell β; fewer leave d − n directions unseen, all alike if Σ_k = s_k·I. */
  function bayes({ d, weights, covs, cov_base, noise_var }, n) {
    if (noise_var !== 0) return null;
    if (n >= d) return 0;
    if (cov_base && cov_base.some((value) => value !== cov_base[0])) return null;
    const variance = covs.reduce((sum, c, k) => sum + weights[k] * c, 0) * (cov_base ? cov_base[0] : 1);
    return variance * (d - n);
  }

  return { Mixture, CLOSED_FORMS, bayes };
})();
