"use strict";
// The controls and the legend: they tell of a change, and show a state when they are told to.

/** `get()` gives the state, `change(part)` replaces a part of it. */
function buildControls(data, get, change) {
  /** A slider and a number for one value of the state; `set` takes what it is moved to. */
  function slider(row, key, label, { min, max, step }, read, set) {
    const number = element("input", { type: "number", id: key, min, step: "any" });
    const range = element("input", {
      type: "range",
      min,
      max,
      step,
      ariaLabel: `${label}, slider`,
      attributes: { "data-key": key },
    });
    number.addEventListener("input", () => change(set(State.parseNumber(number.value))));
    range.addEventListener("input", () => change(set(Number(range.value))));
    row.replaceChildren(
      element("label", { htmlFor: key, innerHTML: label.replace(/\d+$/, "<sub>$&</sub>") }),
      range,
      number,
    );
    return () => {
      const value = read();
      if (document.activeElement !== number) number.value = Number.isFinite(value) ? value : "";
      if (document.activeElement !== range || Number(range.value) !== value) range.value = value;
    };
  }

  const syncs = []; // show the state in a control, each
  let taskSyncs = [];
  const TASK_CONTROLS = [
    { key: "weights", label: "Weight π", min: 0.01, max: 0.99, step: 0.01 },
    { key: "means", label: "Mean μ", min: -5, max: 5, step: 0.1 },
    { key: "covs", label: "Scale of Σ", min: 0.1, max: 10, step: 0.1 },
  ];

  const replaced = (list, k, value) => list.map((old, i) => (i === k ? value : old));

  function buildTasks() {
    taskSyncs = [];
    const boxes = get().weights.map((_, k) => {
      const box = element("fieldset", {}, element("legend", { textContent: `Task ${k + 1}` }));
      for (const { key, label, ...limits } of TASK_CONTROLS) {
        const row = element("div", { className: "row" });
        const set = (value) => ({
          [key]:
            key === "weights" ? State.reweighted(get().weights, k, value) : replaced(get()[key], k, value),
        });
        taskSyncs.push(slider(row, `${key}.${k}`, `${label}${k + 1}`, limits, () => get()[key][k], set));
        box.append(row);
      }
      if (get().weights.length === 1)
        box
          .querySelectorAll('[id^="weights"], [data-key^="weights"]')
          .forEach((input) => (input.disabled = true));
      return box;
    });
    $("tasks-controls").replaceChildren(...boxes);
  }

  function buildInputs() {
    const options = (select, pairs) =>
      select.replaceChildren(
        ...pairs.map(([value, text]) => element("option", { value, textContent: text })),
      );
    options($("preset"), [
      ["", State.OWN_NAME],
      ...data.presets.map((preset) => [preset.name, State.presetName(preset)]),
    ]);
    $("preset").options[0].disabled = true; // is what moving a control makes
    $("preset").addEventListener("change", () =>
      change(State.ofPreset(State.find(data, $("preset").value), get())),
    );
    syncs.push(() => ($("preset").value = get().preset));

    options(
      $("tasks"),
      Array.from({ length: data.limits.tasks }, (_, k) => [k + 1, k + 1]),
    );
    $("tasks").addEventListener("change", () => change(State.retasked(get(), Number($("tasks").value))));
    syncs.push(() => ($("tasks").value = get().weights.length));

    for (const row of document.querySelectorAll("#controls [data-label]")) {
      const { key, label, min, max = data.limits.d, step } = row.dataset;
      const set = (value) => (key === "d" ? State.resized(get(), value) : { [key]: value });
      syncs.push(slider(row, key, label, { min, max, step }, () => get()[key], set));
    }

    $("base-kind").addEventListener("change", () => {
      const base = $("base-kind").value === "diagonal" ? State.paperDiagonal(get().d, data.limits) : null;
      change({ cov_base: base });
    });
    syncs.push(() => {
      $("base-kind").value = get().cov_base ? "diagonal" : "identity";
      $("base-row").hidden = !get().cov_base;
    });
    // In short; an entry that is left as it is shown keeps all its digits.
    const short = (value) => Number(value.toPrecision(4));
    const entries = (written) =>
      State.parseNumbers(written).map((value, i) => {
        const before = get().cov_base?.[i];
        return before !== undefined && value === short(before) ? before : value;
      });
    text("cov_base", entries, () => (get().cov_base ?? []).map(short).join(", "));
    text("n", State.parseLengths, () => get().n.join(", "));
    $("longest").addEventListener("input", () =>
      change({ n: State.lengths(Math.round(10 ** Number($("longest").value))) }),
    );
    syncs.push(() => {
      const longest = Math.max(...get().n);
      if (document.activeElement !== $("longest")) $("longest").value = Math.log10(longest);
      $("longest").setAttribute("aria-valuetext", `n up to ${longest}`);
    });

    for (const [key, values] of Object.entries(State.CHOICES)) {
      const words = { normalised: "divided by E[y²]" };
      options(
        $(key),
        values.map((value) => [value, words[value] ?? value]),
      );
      $(key).addEventListener("change", () => change({ [key]: $(key).value }));
      syncs.push(() => ($(key).value = get()[key]));
    }
  }

  /** A text field of a list. */
  function text(key, parse, read) {
    $(key).addEventListener("input", () => change({ [key]: parse($(key).value) }));
    $(key).addEventListener("blur", () => show());
    syncs.push(() => {
      if (document.activeElement !== $(key)) $(key).value = read();
    });
  }

  const entries = []; // of the legend, with their curves

  function buildLegend() {
    for (const curve of Curves.ALL) {
      const { id, label, arm, dash, filled } = curve;
      const box = element("input", { type: "checkbox", id: `show.${id}` });
      box.addEventListener("change", () => {
        const hidden = new Set(get().hidden);
        box.checked ? hidden.delete(id) : hidden.add(id);
        change({ hidden: Curves.IDS.filter((name) => hidden.has(name)) });
      });
      syncs.push(() => (box.checked = !get().hidden.includes(id)));
      const entry = element("label", { htmlFor: box.id }, box, swatch({ arm, dash, filled }), label);
      entries.push([curve, entry]);
      $("curves").append(entry);
    }
  }

  /** The legend of what the chart can have; and what shapes mean, where there are any. */
  function legend(found) {
    for (const [curve, entry] of entries) entry.hidden = !Curves.has(found, curve);
    const simulated = !found.lines.bayes; // where there is no line, there are crosses
    const [, entry] = entries.find(([curve]) => curve === Curves.BAYES);
    entry.querySelector("svg").replaceWith(swatch(simulated ? { cross: true } : Curves.BAYES));
    const points = Curves.MARKERS.flatMap(({ id }) => found[id]);
    const arms = data.closed_forms.theorem.filter((arm) => points.some((point) => point.arm === arm));
    $("shapes").hidden = !arms.length;
    $("shapes").replaceChildren(
      "Markers:",
      ...arms.map((arm) => element("span", {}, shape(data.arms[arm]), data.arms[arm].label)),
    );
  }

  /** A marker as the figures have it. */
  function shape({ path, colour }) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "-0.7 -0.7 1.4 1.4");
    svg.setAttribute("aria-hidden", "true");
    svg.innerHTML = `<path d="${path}" fill="${colour}"/>`;
    return svg;
  }

  function swatch({ arm, dash, filled, cross }) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 32 14");
    svg.setAttribute("aria-hidden", "true");
    const pattern = { dash: "7 4", dashdot: "7 3 2 3", dot: "2 3" }[dash] ?? "none";
    svg.innerHTML = cross
      ? '<path d="M13,4L19,10M13,10L19,4" stroke="currentColor"/>'
      : dash
      ? `<line x1="1" y1="7" x2="31" y2="7" stroke="${arm ? data.arms[arm].colour : "currentColor"}" stroke-width="2.5" stroke-dasharray="${pattern}"/>`
      : `<circle cx="16" cy="7" r="${filled ? 4 : 5.5}" fill="${filled ? "currentColor" : "none"}" stroke="currentColor"/>`;
    return svg;
  }

  function show() {
    if ($("tasks-controls").children.length !== get().weights.length) buildTasks();
    [...syncs, ...taskSyncs].forEach((sync) => sync());
  }

  /** Marks the inputs of these keys as wrong, and no others. */
  function mark(keys) {
    for (const input of document.querySelectorAll("#controls input, #controls textarea")) {
      const key = input.dataset.key ?? input.id;
      const wrong = keys.includes(key) || keys.includes(key.replace(/\.\d+$/, ""));
      input.setAttribute("aria-invalid", wrong);
    }
  }

  buildInputs();
  buildLegend();
  return { show, mark, legend };
}
