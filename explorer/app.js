"use strict";
// The page has one state. Every change of it draws all anew, and is put into the address.

const App = (() => {
  let state = State.initial(data);
  let ignored = []; // what of the link was no good
  let waiting = false; // for the next frame
  let linking = 0; // a timer
  let origin = state.preset; // the preset that was shown last
  const controls = buildControls(data, () => state, change);

  function change(part) {
    ignored = [];
    $("copied").textContent = "";
    state = State.settled({ ...state, ...part }, data);
    origin = state.preset || origin;
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        draw();
      });
    }
    clearTimeout(linking);
    linking = setTimeout(writeLink, 200);
  }

  function writeLink() {
    if (State.problems(state, data.limits).length) return;
    try {
      history.replaceState(null, "", `#${State.toFragment(state, data)}`);
    } catch {
      // a page inside another may have no address of its own
    }
  }

  function readLink() {
    ({ state, ignored } = State.fromFragment(location.hash, data, Curves.IDS));
    origin = state.preset || origin;
    draw();
  }

  function draw() {
    controls.show();
    const problems = State.problems(state, data.limits);
    showProblems(problems);
    if (problems.length) return;
    const found = Curves.compute(state);
    if (!Curves.isFinite(found))
      return showProblems([{ key: "", text: "these numbers are too large, or too small, to compute with" }]);
    $("shown").textContent = Curves.heading(state, found);
    controls.legend(found);
    sayEqual(Curves.equal(state, found));
    Chart.draw($("plot"), state, found);
    Chart.tabulate($("table"), state, found);
    $("yaml").textContent = State.toYaml(state, data);
  }

  function sayEqual(groups) {
    const words = groups.map((group) => group.map(({ label }) => label).join(" = "));
    $("equal").hidden = !groups.length;
    $("equal").textContent = words.length
      ? `Equal, so that one line hides the others: ${words.join("; ")}.`
      : "";
  }

  function showProblems(problems) {
    const lines = [
      ...ignored.map((what) => `In the link, ${what}; ignored.`),
      ...problems.map(({ text }) => text),
    ];
    $("problems").hidden = !lines.length;
    $("problems").replaceChildren(
      element("ul", {}, ...lines.map((line) => element("li", { textContent: line }))),
    );
    for (const stale of ["chart", "numbers", "train"])
      $(stale).classList.toggle("stale", problems.length > 0);
    $("copy").disabled = $("link").disabled = problems.length > 0;
    controls.mark(problems.map(({ key }) => key));
  }

  async function copy(text, what) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      done = copyByField(text);
    }
    $("copied").textContent = done
      ? `${what} copied`
      : `${what} could not be copied: select it and copy by hand`;
  }

  /** The older way, for where the clipboard is not allowed. */
  function copyByField(text) {
    const field = element("textarea", { value: text });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }

  $("reset").addEventListener("click", () => {
    const preset = State.find(data, origin);
    change(preset ? State.ofPreset(preset) : State.initial(data));
  });
  $("copy").addEventListener("click", () => copy(State.toYaml(state, data), "File"));
  $("link").addEventListener("click", () => {
    writeLink();
    copy(location.href, "Link");
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", readLink);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  readLink();

  return {
    get state() {
      return state;
    },
  };
})();
