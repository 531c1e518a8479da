"use strict";
// The chart, by Plotly, and the table of the same numbers.

const Chart = ((data) => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function draw(plot, state, found) {
    const drawn = traces(state, found);
    Plotly.react(plot, drawn, layout(state, found, drawn), { responsive: true, displayModeBar: false });
  }

  function traces(state, found) {
    const drawn = [];
    const shows = ({ id }) => !state.hidden.includes(id);
    const alone = found.n.length === 1; // a line through one point would not be seen
    const line = (id, name, style, zorder = 0) =>
      drawn.push({
        x: found.n,
        y: found.lines[id],
        name,
        mode: alone ? "markers" : "lines",
        line: { width: 2, ...style },
        marker: { symbol: "line-ew-open", size: 14, color: style.color },
        hovertemplate: "%{y}",
        zorder,
      });
    Curves.LINES.forEach((curve, i) => {
      const style = { color: data.arms[curve.arm].colour, dash: curve.dash };
      if (shows(curve) && found.lines[curve.id]) line(curve.id, curve.label, style, -i); // the first on top
    });
    if (shows(Curves.BAYES)) {
      const { id, label, dash } = Curves.BAYES;
      const ink = colour("--ink");
      if (found.lines.bayes) line(id, label, { color: ink, dash });
      const cross = { color: ink, symbol: "x-thin-open", size: 7 };
      if (found.bayes.length) drawn.push(markers(found.bayes, `${label}, simulated`, cross));
    }
    for (const { id, filled } of Curves.MARKERS.filter(shows)) {
      for (const arm of data.closed_forms.theorem) {
        const rows = found[id].filter((row) => row.arm === arm);
        const { colour: own, symbol, label } = data.arms[arm];
        const style = filled
          ? { color: own, symbol, size: 9, line: { color: colour("--paper"), width: 1 } }
          : { color: own, symbol: `${symbol}-open`, size: 14, line: { width: 1.5 } };
        if (rows.length) drawn.push(markers(rows, `${label}, ${id}`, style));
      }
    }
    return drawn;
  }

  function markers(rows, name, marker) {
    const errors = rows.map(({ error }) => 2 * error);
    const visible = errors.some((error) => error > 0);
    return {
      x: rows.map(({ n }) => n),
      y: rows.map(({ risk }) => risk),
      name,
      mode: "markers",
      marker,
      hovertemplate: "%{y} (n = %{x})", // which may not be the n of the lines beside it
      zorder: 1,
      cliponaxis: false,
      ...(visible && {
        error_y: { type: "data", array: errors, thickness: 1, width: 2, color: marker.color },
      }),
    };
  }

  function layout(state, found, drawn) {
    const axis = {
      gridcolor: colour("--line"),
      zerolinecolor: colour("--line"),
      linecolor: colour("--faint"),
    };
    const font = { family: "system-ui, sans-serif", size: 13, color: colour("--ink") };
    const risks = drawn
      .flatMap(({ y }) => y)
      .filter((risk) => risk !== null && (risk > 0 || state.y === "linear"));
    const [least, most] = risks.length ? [Math.min(...risks), Math.max(...risks)] : [0.1, 1];
    return {
      font,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 55, r: 12, t: 8, b: 45 },
      showlegend: false,
      hovermode: "x unified",
      hoverlabel: {
        bgcolor: colour("--panel"),
        bordercolor: colour("--line"),
        font: { ...font, size: 12 },
        namelength: -1,
      },
      dragmode: false,
      xaxis: {
        ...axis,
        ...span(state.x, found.n[0], found.n.at(-1)),
        title: { text: "context length n" },
        unifiedhovertitle: { text: "n = %{x}" },
      },
      yaxis: {
        ...axis,
        ...span(state.y, state.y === "log" ? least : 0, most),
        title: { text: state.risk === "raw" ? "risk" : "risk / E[y²]" },
        hoverformat: `.${Curves.decimals(found)}f`,
      },
    };
  }

  /** An axis from low to high with a margin for markers; a log axis has round ticks. */
  function span(type, low, high) {
    if (type !== "log") {
      const margin = 0.04 * (high - low) || 1;
      return { type, range: [low === 0 ? 0 : low - margin, high + margin], tickmode: "auto" };
    }
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const margin = 0.04 * (to - from) || 0.3;
    const ticks = [];
    for (let power = Math.floor(from) - 1; power <= to + 1; power++) {
      for (const digit of to - from > 3 ? [1] : to - from > 1 ? [1, 2, 5] : [1, 2, 3, 4, 5, 6, 7, 8, 9])
        ticks.push(Number(`${digit}e${power}`));
    }
    return {
      type,
      range: [from - margin, to + margin],
      tickmode: "array",
      tickvals: ticks,
      ticktext: ticks.map(String),
    };
  }

  function tabulate(table, state, found) {
    const row = (label, cell) => {
      const cells = state.n.map((n) => element("td", { textContent: cell(n) ?? "" }));
      return element("tr", {}, element("th", { scope: "row", textContent: label }), ...cells);
    };
    const decimals = Curves.decimals(found);
    const shown = (value) => written(value, decimals);
    const lookup = (rows) => (n) => {
      const hit = rows.find((point) => point.n === n);
      return hit && (hit.error ? `${shown(hit.risk)} ± ${shown(hit.error)}` : shown(hit.risk));
    };
    const onLine = (id) => (n) => {
      const value = found.lines[id][found.n.indexOf(n)];
      return value === null ? "" : shown(value);
    };
    const rows = Curves.LINES.filter(({ id }) => found.lines[id]).map(({ id, label }) =>
      row(label, onLine(id)),
    );
    if (found.lines.bayes || found.bayes.length) {
      const exact = found.lines.bayes ? onLine("bayes") : () => "";
      rows.push(row(Curves.BAYES.label, (n) => exact(n) || lookup(found.bayes)(n)));
    }
    for (const { id } of Curves.MARKERS) {
      for (const [arm, { label }] of Object.entries(data.arms)) {
        const points = found[id].filter((point) => point.arm === arm);
        if (points.length) rows.push(row(`${label}, ${id}`, lookup(points)));
      }
    }
    const head = element(
      "tr",
      {},
      element("th", { scope: "col", textContent: "n" }),
      ...state.n.map((n) => element("th", { scope: "col", textContent: n })),
    );
    table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
  }

  /** With so many decimals; what would not be seen with them, or is very large, as a power of ten. */
  function written(value, decimals) {
    if (value === 0) return "0";
    const lost = Math.abs(value) < 0.5 * 10 ** -decimals;
    return lost || Math.abs(value) >= 1e7 ? value.toExponential(1) : value.toFixed(decimals);
  }

  return { draw, tabulate };
})(data);
