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
  const EQUAL = 1e-9; // relative: rounding, no more
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

  /** Whether a curve of the legend has anything to show in this state. */
  const has = (found, { id }) => Boolean(found.lines[id]) || Boolean(found[id]?.length);

  const visible = (state, found) => ALL.filter((curve) => has(found, curve) && !state.hidden.includes(curve.id));

  /** Visible lines that are one and the same, together. */
  function equal(state, found) {
    const groups = [];
    for (const curve of visible(state, found).filter(({ reference }) => reference)) {
      const risks = found.lines[curve.id];
      const same = (other) =>
        found.lines[other.id].every((risk, i) => Math.abs(risk - risks[i]) <= EQUAL * Math.abs(risk));
      const group = groups.find(([first]) => same(first));
      group ? group.push(curve) : groups.push([curve]);
    }
    return groups.filter((group) => group.length > 1);
  }

  /** What is on the chart, in a line: theorems, and markers of what. */
  function heading(state, found) {
    const preset = State.find(data, state.preset);
    const shown = visible(state, found);
    const numbers = shown
      .filter(({ reference }) => reference === "theorem")
      .map(({ arm }) => data.theorems.indexOf(arm) + 1)
      .filter(Boolean);
    const markers = MARKERS.filter((curve) => shown.includes(curve)).map(({ id }) => id);
    const parts = [
      numbers.length && `Theorem${numbers.length > 1 ? "s" : ""} ${ranges(numbers)}`,
      markers.length && `${markers.join(" and ")} attention`,
      preset?.layers > 1 && `${preset.layers} layers`,
    ].filter(Boolean);
    const name = preset ? preset.name : State.OWN_NAME;
    return parts.length ? `${name}: ${parts.join(", ")}` : name;
  }

  /** 1–3, 5 */
  function ranges(numbers) {
    const found = [];
    for (const number of numbers) {
      const last = found.at(-1);
      last && number === last[1] + 1 ? (last[1] = number) : found.push([number, number]);
    }
    return found.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(", ");
  }

  /** The number of decimals for all risks of a state: five digits of the largest, three of the
   * smallest, but no more than eight. */
  function decimals(found) {
    const risks = [...Object.values(found.lines).flat(), ...MARKERS.flatMap(({ id }) => found[id]).map(({ risk }) => risk)];
    const sizes = risks.filter((risk) => risk > 0).map((risk) => Math.floor(Math.log10(risk)));
    if (!sizes.length) return 4;
    const needed = Math.max(4 - sizes.reduce((a, b) => Math.max(a, b)), 2 - sizes.reduce((a, b) => Math.min(a, b)));
    return Math.min(Math.max(needed, 0), 8);
  }

  const isFinite = ({ lines }) =>
    Object.values(lines).every((risks) => risks.every((risk) => risk === null || Number.isFinite(risk)));

  const IDS = ALL.map(({ id }) => id);
  return { LINES, BAYES, MARKERS, ALL, IDS, compute, isFinite, has, equal, heading, decimals };
})(data);
