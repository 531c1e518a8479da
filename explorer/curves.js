"use strict";
// What can be shown, and its numbers: lines are computed here, markers are the presets'.

const Curves = ((data) => {
  const BEYOND = { centred: { words: "centred", dash: "dash" }, energy: { words: "label energy", dash: "dashdot" } };
  const LINES = Object.entries(data.closed_forms).flatMap(([reference, arms]) =>
    arms.filter((arm) => Theory.CLOSED_FORMS[reference]?.[arm]).map((arm) => line(reference, arm)),
  );
  const BAYES = { id: "bayes", label: "Bayes-optimal", dash: "dot" };
  const MARKERS = [
    { id: "trained", label: "trained attention", filled: true },
    { id: "published", label: "published by the authors", filled: false },
  ];
  const ALL = [...LINES, BAYES, ...MARKERS];

  const MOST_POINTS = 60; // of a line
  const LEAST_POINTS = 20;
  const MOST_WORK = 60 * 15 ** 3; // beyond d = 15, a line has fewer points

  function line(reference, arm) {
    const { label } = data.arms[arm];
    const theorem = data.theorems.indexOf(arm) + 1;
    const name = theorem ? `Theorem ${theorem}` : label;
    const { words, dash } = BEYOND[reference] ?? {};
    return {
      id: `${reference}.${arm}`,
      reference,
      arm,
      label: words ? `${name}, ${words}` : theorem ? `${name}: ${label}` : label,
      dash: dash ?? "solid",
    };
  }

  /** The context lengths of a line: those of the state, and more between them. */
  function samples({ n, d, x }) {
    const [low, high] = [n[0], n.at(-1)];
    const count = Math.max(LEAST_POINTS, Math.min(MOST_POINTS, Math.floor(MOST_WORK / d ** 3)));
    const found = new Set(n);
    for (let i = 0; i <= count; i++) {
      const share = i / count; // squared, they are denser where a line is steep
      found.add(Math.round(x === "log" ? low * (high / low) ** share : low + (high - low) * share ** 2));
    }
    return [...found].sort((a, b) => a - b);
  }

  /** All risks of a state, divided by E[y²] where that is asked for: `lines` by name, at `n`; and
   * `trained`, `published` and `bayes`, rows of markers. */
  function compute(state) {
    const mix = Theory.Mixture.of(state);
    const unit = state.risk === "raw" ? 1 : mix.labelPower;
    const preset = State.find(data, state.preset);
    const deeper = preset?.layers > 1;
    const n = samples(state);
    const lines = {};
    if (!deeper) {
      for (const { id, reference, arm } of LINES)
        lines[id] = n.map((length) => Theory.CLOSED_FORMS[reference][arm](mix, length).risk / unit);
      const bayes = n.map((length) => Theory.bayes(state, length));
      if (bayes.some((risk) => risk !== null)) lines.bayes = bayes.map((risk) => risk && risk / unit);
    }
    const points = (rows = []) =>
      rows
        .filter((row) => row.n >= n[0] && row.n <= n.at(-1))
        .map((row) => ({ ...row, risk: row.risk / unit, error: (row.risk_se ?? 0) / unit }));
    return {
      n,
      lines,
      trained: points(preset?.trained),
      published: points(preset?.published),
      bayes: points(preset?.bayes.filter((row) => deeper || Theory.bayes(state, row.n) === null)),
    };
  }

  const isFinite = ({ lines }) =>
    Object.values(lines).every((risks) => risks.every((risk) => risk === null || Number.isFinite(risk)));

  return { LINES, BAYES, MARKERS, ALL, IDS: ALL.map(({ id }) => id), compute, isFinite };
})(data);
