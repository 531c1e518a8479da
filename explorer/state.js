"use strict";
// What the controls say: checked, as a URL's fragment, and as a file for the config.
//
// A state has the config's keys d, weights, means, covs, cov_base (null: identity), noise_var and n;
// `preset`, the one that has this mixture, or ""; the axes `x` and `y`, linear or log; `risk`,
// normalised or raw; and `hidden`, the names of curves that are not shown.

const State = (() => {
  const MIXTURE = ["d", "weights", "means", "covs", "cov_base", "noise_var"];
  const PER_TASK = ["weights", "means", "covs"];
  const CHOICES = { x: ["linear", "log"], y: ["linear", "log"], risk: ["normalised", "raw"] };
  const HIDDEN = ["centred.shared", "energy.joint", "energy.shared"];
  const VIEW = { x: "linear", y: "linear", risk: "normalised", hidden: HIDDEN };
  const OWN = { d: 10, weights: [0.3, 0.7], means: [1.7, -1.3], covs: [1, 2], cov_base: null, noise_var: 1 };
  const MOST_LENGTHS = 100; // columns of the table
  const LONGEST = 1e5;
  const WEIGHT_SUM_TOLERANCE = 1e-9; // as the config's

  const OWN_NAME = "own mixture"; // of a state with no preset
  const presetName = (preset) => `${preset.name}: ${described(preset)}`;

  /** What is a preset's own, in a line. */
  function described({ means, covs, cov_base, noise_var, layers }) {
    const deep = layers > 1 ? `${layers} layers; ` : "";
    const list = (values) => values.join(", ").replaceAll("-", "−");
    const scales = cov_base ? covs.map((scale) => `${scale === 1 ? "" : scale}D`) : covs;
    return `${deep}σ² ${noise_var}; μ ${list(means)}; Σ ${list(scales)}`;
  }

  const copy = (value) => JSON.parse(JSON.stringify(value));
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const mixture = (state) => Object.fromEntries(MIXTURE.map((key) => [key, state[key]]));
  const find = (data, name) => data.presets.find((preset) => preset.name === name);

  function ofPreset(preset, view = VIEW) {
    return copy({ ...mixture(preset), n: preset.n, ...pick(view), preset: preset.name });
  }

  const pick = ({ x, y, risk, hidden }) => ({ x, y, risk, hidden });

  function initial(data) {
    const first = find(data, "fig2c") ?? data.presets[0];
    return first ? ofPreset(first) : copy({ ...OWN, n: lengths(50), ...VIEW, preset: "" });
  }

  /** Five even steps up to the longest context, from 1. */
  function lengths(longest) {
    const steps = [1, ...[1, 2, 3, 4, 5].map((i) => Math.max(1, Math.round((i * longest) / 5)))];
    return [...new Set(steps)];
  }

  /** The state with the preset that has its mixture: the one it names, or none. */
  function settled(state, data) {
    const preset = find(data, state.preset);
    return { ...state, preset: preset && same(mixture(preset), mixture(state)) ? preset.name : "" };
  }

  /** Another weight for a task; the others share the rest as before. */
  function reweighted(weights, task, weight) {
    const others = weights.reduce((sum, value, k) => (k === task ? sum : sum + value), 0);
    const rest = 1 - weight;
    return weights.map((value, k) => {
      if (k === task) return weight;
      return rounded(others > 0 ? (value / others) * rest : rest / (weights.length - 1));
    });
  }

  /** As many tasks as asked for; a new one takes an even share of the weight. */
  function retasked(state, tasks) {
    const { weights, means, covs } = copy(state);
    while (weights.length > tasks) [weights, means, covs].forEach((list) => list.pop());
    const total = weights.reduce((sum, value) => sum + value, 0);
    let even = weights.map((value) => rounded(value / total));
    while (even.length < tasks) {
      even = reweighted([...even, 0], even.length, rounded(1 / (even.length + 1)));
      means.push(0);
      covs.push(1);
    }
    return { ...state, weights: tasks === 1 ? [1] : even, means, covs };
  }

  /** Another d; a diagonal is cut, or goes on by the ratio of its last two entries. */
  function resized(state, d) {
    if (!state.cov_base || !inRange(d, 1, 1000)) return { ...state, d };
    const base = state.cov_base.slice(0, d);
    const [before, last] = base.length > 1 ? base.slice(-2) : [1, 1];
    while (base.length < d) base.push(base.at(-1) * (last / before));
    return { ...state, d, cov_base: base };
  }

  /** 0.9, then powers of 1/0.9. */
  function paperDiagonal(d, limits) {
    const length = inRange(d, 1, limits.d) ? d : 1;
    return Array.from({ length }, (_, i) => 0.9 ** (i === 0 ? 1 : -i));
  }

  const rounded = (value) => Number(value.toPrecision(12)); // 1 − 0.7 is 0.3, not 0.30000000000000004
  const inRange = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;

  /** What is wrong: { key, text }, the key also with a task's number, means.1. */
  function problems(state, limits) {
    const found = [];
    const say = (key, text) => found.push({ key, text });
    const { d, weights, means, covs, cov_base, noise_var, n } = state;
    if (!inRange(d, 1, limits.d)) say("d", `d must be a whole number from 1 to ${limits.d}`);
    if (!inRange(weights.length, 1, limits.tasks)) say("weights", `there can be 1 to ${limits.tasks} tasks`);
    weights.forEach((value, k) => {
      if (!(value > 0 && value <= 1)) say(`weights.${k}`, `weight π${k + 1} must be above 0 and at most 1`);
    });
    const sum = weights.reduce((total, value) => total + value, 0);
    if (!(Math.abs(sum - 1) <= WEIGHT_SUM_TOLERANCE))
      say(
        "weights",
        `the weights sum to ${Number(sum.toPrecision(6))}, not to 1; change one, and the others follow`,
      );
    means.forEach((value, k) => {
      if (!Number.isFinite(value)) say(`means.${k}`, `mean μ${k + 1} must be a number`);
    });
    covs.forEach((value, k) => {
      if (!(value > 0 && Number.isFinite(value)))
        say(`covs.${k}`, `the scale of Σ${k + 1} must be a number above 0`);
    });
    if (cov_base) {
      if (cov_base.length !== d) say("cov_base", `the diagonal has ${cov_base.length} entries for d = ${d}`);
      if (!cov_base.every((value) => value > 0 && Number.isFinite(value)))
        say("cov_base", "all entries of the diagonal must be numbers above 0");
    }
    if (!(noise_var >= 0 && Number.isFinite(noise_var))) say("noise_var", "σ² must be a number, 0 or more");
    if (!inRange(n.length, 1, MOST_LENGTHS)) say("n", `give 1 to ${MOST_LENGTHS} context lengths`);
    if (!n.every((value) => inRange(value, 1, LONGEST)))
      say("n", `context lengths must be whole numbers from 1 to ${LONGEST}`);
    return found;
  }

  const parseNumber = (text) => (text.trim() === "" ? NaN : Number(text));
  /** Of a list with commas or spaces between; one may be at the end, where somebody is writing. What
   * is left out between two commas is no number, for `problems` to find. */
  function parseNumbers(text) {
    const list = text.trim().replace(/\s*,$/, "");
    return list === "" ? [] : list.split(/\s*,\s*|\s+/).map(parseNumber);
  }

  const parseLengths = (text) => [...new Set(parseNumbers(text))].sort((a, b) => a - b);

  function toFragment(state, data) {
    const parts = {};
    const preset = find(data, state.preset);
    if (preset) parts.preset = preset.name;
    else for (const key of MIXTURE) if (state[key] !== null) parts[key] = [state[key]].flat().join(",");
    if (!preset || !same(preset.n, state.n)) parts.n = state.n.join(",");
    for (const key of Object.keys(CHOICES)) if (state[key] !== VIEW[key]) parts[key] = state[key];
    if (!same(state.hidden, VIEW.hidden)) parts.hidden = state.hidden.join(",");
    return Object.entries(parts)
      .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
      .join("&")
      .replaceAll("%2C", ",");
  }

  /** The state that a fragment describes, and what in it had to be ignored. Numbers that are no good
   * stay, for `problems` to find and the controls to show. */
  function fromFragment(fragment, data, curves) {
    const parts = new URLSearchParams(fragment.replace(/^#/, "").replaceAll("+", "%2B"));
    const ignored = [];
    const own = MIXTURE.some((key) => parts.has(key));
    const preset = find(data, parts.get("preset"));
    let state = preset || !own ? initial(data) : copy({ ...OWN, n: lengths(50), ...VIEW, preset: "" });
    if (preset) state = ofPreset(preset);
    for (const [key, value] of parts) {
      if (key === "preset") {
        if (!preset) ignored.push(`there is no preset ${short(value)}`);
      } else if (key === "d" || key === "noise_var") state[key] = parseNumber(value);
      else if (key === "n") state.n = parseLengths(value).slice(0, MOST_LENGTHS + 1);
      else if (key === "cov_base") state.cov_base = parseNumbers(value).slice(0, data.limits.d + 1);
      else if (PER_TASK.includes(key)) state[key] = parseNumbers(value).slice(0, data.limits.tasks + 1);
      else if (key === "hidden") state.hidden = curves.filter((name) => value.split(",").includes(name));
      else if (Object.hasOwn(CHOICES, key) && CHOICES[key].includes(value)) state[key] = value;
      else ignored.push(`${short(key)} cannot be ${short(value) || "empty"}`);
    }
    const tasks = Math.max(1, ...PER_TASK.map((key) => state[key].length));
    for (const key of PER_TASK) while (state[key].length < tasks) state[key].push(NaN); // for the controls to show
    return { state: settled(state, data), ignored };
  }

  const short = (text) => (text.length > 30 ? `${text.slice(0, 30)}…` : text);

  /** YAML takes 1e-7 for text, and 1.0e-7 for a number. */
  function yamlNumber(value) {
    const text = String(value);
    return /e/.test(text) && !/\./.test(text) ? text.replace("e", ".0e") : text;
  }

  const yamlList = (values) => `[${values.map(yamlNumber).join(", ")}]`;

  /** A whole file that Snakemake takes, with the command. */
  function toYaml(state, data) {
    const layers = find(data, state.preset)?.layers ?? 1;
    const lines = [
      `d: ${state.d}`,
      `weights: ${yamlList(state.weights)}`,
      `means: ${yamlList(state.means)}`,
      `covs: ${yamlList(state.covs)}`,
      state.cov_base && `cov_base: ${yamlList(state.cov_base)}`,
      `noise_var: ${yamlNumber(state.noise_var)}`,
      `n: ${yamlList(state.n)}`,
      layers > 1 && `layers: [${layers}]`,
    ];
    return [
      "# mine.yaml, beside the Snakefile; to train it:",
      "# snakemake --configfile mine.yaml -- figures/mine.pdf",
      "settings:",
      "  mine:",
      ...lines.filter(Boolean).map((line) => `    ${line}`),
      "",
    ].join("\n");
  }

  return {
    OWN_NAME,
    presetName,
    paperDiagonal,
    CHOICES,
    initial,
    ofPreset,
    settled,
    lengths,
    reweighted,
    retasked,
    resized,
    problems,
    parseNumber,
    parseNumbers,
    parseLengths,
    toFragment,
    fromFragment,
    toYaml,
    find,
  };
})();
