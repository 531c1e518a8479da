"""The explorer in a real browser: its numbers are the library's, and every control works."""

import json
import math
import statistics
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import yaml
from configs import problems, read
from decoupling.problem.family import controls
from decoupling.problem.mixture import TaskMixture
from decoupling.sources.gaussian.block import make_spec
from decoupling.theory.bayes import CONTEXTS, conditional_risks
from decoupling.theory.theorems import CLOSED_FORMS
from workflow.conftest import ROOT, Project, copy_sources

from .browser import Browser

STATES = 240
TOLERANCE = 1e-9  # relative; both sides invert matrices in double precision
MIXTURE = ("d", "weights", "means", "covs", "cov_base", "noise_var")
ARROW_DOWN, ARROW_RIGHT, ENTER, HOME = "\ue015", "\ue014", "\ue007", "\ue011"  # WebDriver's
DESKTOP, PHONE = (1400, 1000), (390, 844)
SHOWN = "document.querySelectorAll('#table td').length > 0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The paper's settings: the page, and data/theory of those with one layer."""
    made = copy_sources(tmp_path_factory.mktemp("explorer") / "project")
    settings = made.config["settings"].items()
    one_layer = [name for name, block in settings if not {"layers", "table"} & set(block)]
    made.snakemake("explorer.html", *(f"data/theory/{name}.parquet" for name in one_layer))
    return made


@pytest.fixture
def page(project: Project, browser: Browser) -> Iterator[Browser]:
    """The browser at the page, which has nothing to complain of in the end."""
    browser.emulate(*DESKTOP)
    visit(browser, project)
    yield browser
    assert browser.errors() == []


def visit(browser: Browser, project: Project, fragment: str = "", wait: str = SHOWN) -> None:
    """Opened anew: a change of the fragment alone would not load the page."""
    browser.run("location.href = 'about:blank'")
    browser.open(project.path / "explorer.html", fragment)
    browser.wait_for(f"typeof App !== 'undefined' && {wait}")


def preset_names(page: Browser, where: str = "true") -> list[str]:
    return page.run(f"return data.presets.filter(p => {where}).map(p => p.name)")


def random_state(rng: np.random.Generator) -> dict:
    """Anything that the controls can say; rounded, as sliders are, in half of the cases."""
    dim, tasks = int(rng.integers(1, 31)), int(rng.integers(1, 4))
    weights = rng.dirichlet(np.full(tasks, 2.0)).clip(1e-3)
    longest = 10 ** rng.uniform(0, 5)
    state = {
        "d": dim,
        "weights": (weights / weights.sum()).tolist(),
        "means": rng.uniform(-5, 5, tasks).tolist(),
        "covs": np.exp(rng.uniform(np.log(0.1), np.log(10), tasks)).tolist(),
        "cov_base": np.exp(rng.normal(0, 1, dim)).tolist() if rng.random() < 0.6 else None,
        "noise_var": float(rng.choice([0, rng.uniform(0, 20)])),
        "n": sorted({int(value) for value in rng.uniform(1, longest, 4)}),
    }
    if rng.random() < 0.5:
        state["means"] = [round(value, 1) for value in state["means"]]
        state["covs"] = [max(0.1, round(value, 1)) for value in state["covs"]]
    return state


def fragment(state: dict) -> str:
    def text(value: object) -> str:
        return ",".join(map(repr, value)) if isinstance(value, list) else str(value)

    return "&".join(f"{key}={text(value)}" for key, value in state.items() if value is not None)


def mixture(state: dict) -> TaskMixture:
    block = {key: state[key] for key in MIXTURE if state[key] is not None}
    return make_spec("state", block)


def computed(page: Browser, fragments: list[str]) -> list[dict]:
    """For each link, the state it leads to and the raw risks of all lines."""
    return page.run(f"""
        return {json.dumps(fragments)}.map(link => {{
            const {{ state, ignored }} = State.fromFragment(link + "&risk=raw", data, Curves.IDS);
            const problems = State.problems(state, data.limits);
            if (ignored.length || problems.length) throw Error(JSON.stringify([ignored, problems]));
            const {{ n, lines }} = Curves.compute(state);
            return {{ state, n, lines }};
        }})""")


def deviation(value: float, reference: float) -> float:
    return abs(value / reference - 1)


def test_page_has_the_librarys_closed_forms(page: Browser) -> None:
    script = "return Object.entries(Theory.CLOSED_FORMS).map(([k, v]) => [k, Object.keys(v)])"
    assert dict(page.run(script)) == {name: list(forms) for name, forms in CLOSED_FORMS.items()}


def test_random_states_have_the_librarys_risks(page: Browser, record_property) -> None:
    rng = np.random.default_rng(15)
    states = [random_state(rng) for _ in range(STATES)]
    found = computed(page, [fragment(state) for state in states])
    worst = 0.0
    for state, page_side in zip(states, found, strict=True):
        assert {key: page_side["state"][key] for key in state} == state  # the link lost nothing
        mix = mixture(state)
        for reference, forms in CLOSED_FORMS.items():
            for arm, form in forms.items():
                line = dict(
                    zip(page_side["n"], page_side["lines"][f"{reference}.{arm}"], strict=True)
                )
                for n in {*state["n"], *page_side["n"][::10]}:
                    worst = max(worst, deviation(line[n], form(mix, n).risk))
    record_property("largest relative deviation", float(worst))
    print(f"largest relative deviation of {STATES} states: {worst:.2g}")
    assert worst < TOLERANCE


def test_presets_have_the_risks_of_data_theory(page: Browser, project: Project) -> None:
    names = preset_names(page, "p.layers === 1")
    assert {"fig2a", "fig2b", "fig2c", "fig2d", "figA1a", "figA1b", "figA1c", "figA1d"} < {*names}
    for name, found in zip(names, computed(page, [f"preset={n}" for n in names]), strict=True):
        theory = pd.read_parquet(project.path / f"data/theory/{name}.parquet")
        rows = theory[theory.curve.isin(CLOSED_FORMS)]
        assert found["state"]["n"] == sorted(set(rows.n))
        for row in rows.itertuples():
            value = found["lines"][f"{row.curve}.{row.arm}"][found["n"].index(row.n)]
            assert deviation(value, row.risk) < TOLERANCE, (name, row)


def test_every_panel_of_the_paper_is_a_preset_with_its_points(page: Browser) -> None:
    panels = [f"fig2{letter}" for letter in "abcd"] + [f"figA1{letter}" for letter in "abcd"]
    panels += [f"figA2{letter}" for letter in "abcdef"]
    assert {*panels} <= {*preset_names(page, "p.trained.length > 0")}
    assert preset_names(page, "p.published.length > 0") == ["fig2a", "fig2c", "fig2d"]


def test_bayes_line_is_what_a_simulation_gives(page: Browser) -> None:
    """Five standard errors: a false alarm in a million."""
    rng = np.random.default_rng(16)
    for _ in range(6):
        state = random_state(rng) | {"d": 6, "cov_base": None, "noise_var": 0.0, "n": [1, 3, 5, 9]}
        (found,) = computed(page, [fragment(state)])
        for n in state["n"]:
            risks = conditional_risks(mixture(state), n)
            error = 5 * risks.std() / math.sqrt(CONTEXTS) + 1e-9
            assert abs(found["lines"]["bayes"][found["n"].index(n)] - risks.mean()) < error
    state |= {"cov_base": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    (found,) = computed(page, [fragment(state)])
    known = dict(zip(found["n"], found["lines"]["bayes"], strict=True))
    assert [known[n] for n in state["n"]] == [None, None, None, 0]
    (found,) = computed(page, [fragment(state | {"noise_var": 1.0})])
    assert "bayes" not in found["lines"]


def test_deeper_presets_have_markers_only(page: Browser, project: Project) -> None:
    for name in preset_names(page, "p.layers > 1"):
        visit(page, project, f"preset={name}")
        modes = page.run("return document.getElementById('plot').data.map(trace => trace.mode)")
        assert len(modes) == 4  # three arms, and Bayes
        assert {*modes} == {"markers"}
        assert legend(page) == ["Bayes-optimal", "trained attention"]
        assert shapes(page) == ["plain", "joint prompts", "joint prompts and heads"]


def legend(page: Browser) -> list[str]:
    """What can be shown, of the state that was drawn last."""
    return page.run(
        "return new Promise(requestAnimationFrame).then(() =>"
        " [...document.querySelectorAll('#curves label:not([hidden])')].map(e => e.innerText))"
    )


def shapes(page: Browser) -> list[str]:
    return page.run("return [...document.querySelectorAll('#shapes span')].map(e => e.innerText)")


def text(page: Browser, name: str) -> str:
    """Of an element, if it is shown."""
    return page.run(
        "return new Promise(requestAnimationFrame).then(() =>"
        f" document.getElementById('{name}').innerText)"
    )


def test_the_legend_lists_what_is_there(page: Browser, project: Project) -> None:
    """Shapes are arms, of presets alone; published risks are of some of them."""
    assert "published by the authors" in legend(page)
    assert shapes(page) == [
        "plain", "fine-tuned prompts", "joint prompts", "joint prompts and heads"
    ]  # fmt: skip
    visit(page, project, "d=2&weights=1&means=1&covs=1&noise_var=1&n=1,5")
    assert "Theorem 1: plain" in legend(page)
    assert not {"Bayes-optimal", "trained attention", "published by the authors"} & {*legend(page)}
    assert shapes(page) == []


def test_the_title_names_what_is_on_the_chart(page: Browser, project: Project) -> None:
    assert text(page, "shown") == "fig2c: Theorems 1–4, trained and published attention"
    visit(page, project, "preset=fig2a&hidden=theorem.finetune,theorem.joint_heads")
    assert text(page, "shown") == "fig2a: Theorems 1, 3, trained and published attention"
    visit(page, project, "preset=figA2c")
    assert text(page, "shown") == "figA2c: trained attention, 3 layers"
    visit(page, project, "d=2&weights=1&means=1&covs=1&n=1,5")
    assert text(page, "shown") == "own mixture: Theorems 1–4"


def test_equal_curves_are_named(page: Browser, project: Project) -> None:
    said = text(page, "equal")
    assert "Theorem 1: plain = one prompt for all tasks;" in said
    assert "Theorem 3: joint prompts = Theorem 3, centred." in said
    alone = "theorem.shared,centred.joint,centred.shared,energy.joint,energy.shared"
    visit(page, project, f"preset=fig2c&hidden={alone}")
    assert text(page, "equal") == ""
    visit(page, project, "preset=fig2d")
    assert "Theorem 2" not in text(page, "equal")


def test_numbers_have_one_number_of_decimals(page: Browser, project: Project) -> None:
    numbers = [cell for row in cells(page).values() for cell in row if "." in cell]
    assert {len(number.partition(".")[2]) for number in numbers} == {5}
    visit(page, project, "preset=figA1d&n=1,100000")
    digits = {len(cell.split(" ")[0].partition(".")[2]) for row in cells(page).values()
              for cell in row if "." in cell}  # fmt: skip
    assert len(digits) == 1


def test_reset_brings_the_preset_back(page: Browser, project: Project) -> None:
    visit(page, project, "preset=figA1b")
    before = page.run("return App.state")
    page.press("#noise_var", HOME)
    page.press('input[type=range][data-key="means.0"]', ARROW_RIGHT * 3)
    page.press("#y", "log")
    page.wait_for("App.state.preset === '' && App.state.y === 'log'")
    page.press("#reset", ENTER)
    page.wait_for("App.state.preset === 'figA1b'")
    assert page.run("return App.state") == before


def test_the_diagonal_is_short_and_keeps_its_digits(page: Browser, project: Project) -> None:
    visit(page, project, "preset=figA1c")
    before = page.run("return App.state.cov_base")
    shown = page.run("return document.getElementById('cov_base').value")
    assert shown == "0.9, 1.111, 1.235, 1.372, 1.524, 1.694, 1.882, 2.091, 2.323, 2.581"
    page.run(
        "const box = document.getElementById('cov_base'); box.focus();"
        " box.value = box.value.replace('0.9,', '0.8,');"
        " box.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    page.wait_for("App.state.cov_base[0] === 0.8")
    assert page.run("return App.state.cov_base") == [0.8, *before[1:]]


def test_a_link_says_that_its_receiver_needs_the_page(page: Browser) -> None:
    said = page.run("return document.querySelector('.hint').innerText")
    assert "whoever gets it needs this page too" in said


def cells(page: Browser) -> dict[str, list[str]]:
    """Of the table, once what has changed is drawn, which is in the next frame."""
    rows = page.run(
        "return new Promise(requestAnimationFrame).then(() =>"
        " [...document.querySelectorAll('#table tr')].map(row =>"
        " [...row.children].map(cell => cell.textContent)))"
    )
    return {name: values for name, *values in rows}


def test_table_and_chart_show_the_numbers(page: Browser, project: Project) -> None:
    visit(page, project, "preset=fig2d&risk=raw")
    table = cells(page)
    assert table["n"] == ["1", "10", "20", "30", "40", "50"]
    assert table["Theorem 1: plain"][0] == "22.260"  # 22.2598136, of fig2d's theory
    assert table["Theorem 4: joint prompts and heads"][-1] == "3.066"
    assert table["plain, published"][0] == "22.161"
    traces = page.run("return document.getElementById('plot').data.map(t => [t.name, t.x, t.y])")
    drawn = {name: dict(zip(x, y, strict=True)) for name, x, y in traces}
    assert drawn["Theorem 1: plain"][1] == pytest.approx(22.2598136, abs=1e-7)
    assert drawn["plain, published"][1] == 22.16125317


def test_hover_shows_numbers(page: Browser) -> None:
    box = page.run("return document.querySelector('#plot .nsewdrag').getBoundingClientRect()")
    for share in (0.5, 0.51):  # Plotly answers to a movement
        page.point_at(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        page.run("return new Promise(requestAnimationFrame)")
    text = page.wait_for("document.querySelector('#plot .hoverlayer')?.textContent")
    assert "n = " in text
    assert "Theorem 4: joint prompts and heads : 0." in text


def test_link_keeps_the_state(page: Browser, project: Project) -> None:
    rng = np.random.default_rng(17)
    ids = page.run("return Curves.IDS")
    for _ in range(20):
        view = {
            "x": str(rng.choice(["linear", "log"])),
            "y": str(rng.choice(["linear", "log"])),
            "risk": str(rng.choice(["normalised", "raw"])),
            "hidden": [name for name in ids if rng.random() < 0.3],
        }
        state = random_state(rng) | view | {"preset": ""}
        link = page.run(f"return State.toFragment({json.dumps(state)}, data)")
        again = page.run(f"return State.fromFragment({json.dumps(link)}, data, Curves.IDS)")
        assert again == {"state": state, "ignored": []}
    for name in preset_names(page):
        (found,) = computed(page, [f"preset={name}"])
        assert page.run(f"return State.toFragment({json.dumps(found['state'])}, data)") == (
            f"preset={name}&risk=raw"
        )


def test_a_moved_control_changes_link_and_page_and_the_link_brings_them_back(
    page: Browser, project: Project
) -> None:
    visit(page, project, "preset=fig2c")
    page.press("#noise_var", HOME)
    page.press('input[type=range][data-key="means.0"]', ARROW_RIGHT * 3)
    page.press("#y", "log")
    page.wait_for("location.hash.includes('means=2.4') && location.hash.includes('y=log')")
    state, table = page.run("return App.state"), cells(page)
    assert state["means"] == [2.4, -0.9]
    assert state["preset"] == ""
    assert "plain, trained" not in table  # which are of fig2c's mixture
    visit(page, project, page.run("return location.hash.slice(1)"))
    assert (page.run("return App.state"), cells(page)) == (state, table)
    page.run("location.hash = 'preset=fig2c'")
    page.wait_for("App.state.preset === 'fig2c'")
    assert "plain, trained" in cells(page)


def test_weights_go_on_summing_to_one(page: Browser, project: Project) -> None:
    visit(page, project, "d=3&weights=0.2,0.3,0.5&means=1,2,3&covs=1,1,1&n=2,4")
    page.press('input[type=range][data-key="weights.0"]', ARROW_RIGHT)
    page.wait_for("App.state.weights[0] === 0.21")
    weights = page.run("return App.state.weights")
    assert sum(weights) == pytest.approx(1, abs=1e-11)
    assert weights[1] / weights[2] == pytest.approx(0.6)
    page.press("#tasks", "1")
    page.wait_for("App.state.weights.length === 1")
    page.press("#tasks", ARROW_DOWN)
    page.wait_for("App.state.weights.length === 2")
    assert page.run("return [App.state.weights, App.state.means]") == [[0.5, 0.5], [1, 0]]
    assert page.run("return document.getElementById('problems').hidden")


def test_a_diagonal_follows_the_dimension(page: Browser, project: Project) -> None:
    visit(page, project, "preset=figA1c")
    base = page.run("return App.state.cov_base")
    page.press('input[type=range][data-key="d"]', ARROW_RIGHT * 2)
    page.wait_for("App.state.d === 12")
    longer = page.run("return App.state.cov_base")
    assert longer[:10] == base
    assert longer[10:] == pytest.approx([0.9**-10, 0.9**-11], rel=1e-12)


@pytest.mark.parametrize(
    "link",
    [
        "preset=fig2d",
        "preset=figA2c",
        "d=4&weights=0.25,0.75&means=0.0000001,-1e22&covs=1e-7,2.5&noise_var=0.30000000000000004&n=3",
        "d=2&weights=0.2,0.3,0.5&means=1,0,-2&covs=1,2,0.5&cov_base=0.9,1.1111111111111112&n=1,9",
    ],
)
def test_copied_file_is_the_same_mixture_to_the_config(
    page: Browser, project: Project, link: str
) -> None:
    """As the file that it says it is, with the command that it says."""
    visit(page, project, link)
    page.press("#copy", ENTER)
    page.wait_for("document.getElementById('copied').textContent === 'File copied'")
    copied = page.clipboard()
    (project.path / "mine.yaml").write_text(copied)
    command = "--configfile mine.yaml -- figures/mine.pdf"
    assert f"# snakemake {command}\n" in copied
    assert project.planned(*command.split())["figure"] == 1
    raw = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    raw["settings"] |= yaml.safe_load(copied)["settings"]
    assert problems(raw) == []
    setting = read(raw).settings["mine"]
    state = page.run("return App.state")
    found = controls(make_spec("mine", setting.block))
    mine, theirs = make_spec("x", setting.block), mixture(state)
    assert mine.fingerprint == theirs.fingerprint, found
    assert list(setting.n) == state["n"]
    layers = page.run("return State.find(data, App.state.preset)?.layers ?? 1")
    assert setting.layers == (layers,)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("d=3&weights=0.3,0.3&means=1,2&covs=1,1", "the weights sum to 0.6, not to 1"),
        ("preset=fig2c&weights=1,-1", "weight π2 must be above 0"),
        ("preset=fig2c&n=0", "context lengths must be whole numbers from 1"),
        ("preset=fig2c&n=-4,2.5", "context lengths must be whole numbers from 1"),
        ("preset=fig2c&n=", "give 1 to 100 context lengths"),
        ("preset=fig2c&d=1000000000", "d must be a whole number from 1 to 30"),
        ("d=NaN&weights=&means=a,b&covs=", "mean μ2 must be a number"),
        ("preset=fig2c&means=1,,2", "mean μ2 must be a number"),
        ("preset=fig2c&n=1,,5", "context lengths must be whole numbers from 1"),
        ("preset=fig2c&covs=0,1", "the scale of Σ1 must be a number above 0"),
        ("preset=fig2c&cov_base=1,2", "the diagonal has 2 entries for d = 10"),
        ("preset=fig2c&noise_var=-1", "σ² must be a number, 0 or more"),
        ("weights=0.1,0.2,0.3,0.4", "there can be 1 to 3 tasks"),
        ("preset=fig2c&means=1e200,0", "too large"),
        ("preset=nonesuch", "there is no preset nonesuch"),
        ("x=cubic&__proto__=1&toString=2", "x cannot be cubic"),
        ("%E0%A4%A&<script>alert(1)</script>=%00", "cannot be"),
    ],
)
def test_bad_links_are_explained_and_mended(
    page: Browser, project: Project, link: str, said: str
) -> None:
    visit(page, project, link, wait="!document.getElementById('problems').hidden")
    assert said in page.run("return document.getElementById('problems').innerText")
    page.press("#preset", "fig2a")
    page.wait_for("App.state.preset === 'fig2a' && document.getElementById('problems').hidden")
    assert cells(page)["n"] == ["1", "10", "20", "30", "40", "50"]
    assert not page.run("return document.getElementById('copy').disabled")


def test_wrong_input_is_marked_and_the_last_chart_dimmed(page: Browser) -> None:
    before = cells(page)
    page.run("document.getElementById('n').value = ''")
    page.press("#n", "x, 1")  # wrong from its first key on: every key draws
    page.wait_for("document.getElementById('n').getAttribute('aria-invalid') === 'true'")
    assert page.run("return document.getElementById('chart').classList.contains('stale')")
    assert page.run("return document.getElementById('copy').disabled")
    assert cells(page) == before
    page.run("document.getElementById('n').value = ''")
    page.press("#n", "5 2, 5")
    page.wait_for("App.state.n.length === 2 && document.getElementById('problems').hidden")
    assert cells(page)["n"] == ["2", "5"]


def test_every_control_can_be_reached_and_has_a_name(page: Browser, project: Project) -> None:
    visit(page, project, "preset=figA1d")  # where all are shown
    shown = "#curves label:not([hidden]) input"  # no published risks
    controls = f"#controls input, textarea, select, button, {shown}, .scroll, pre"
    assert all(page.names(controls))
    assert len(set(page.names("#controls input, #controls select"))) == len(
        page.names("#controls input, #controls select")
    )
    reached = page.run(
        f"return [...document.querySelectorAll('{controls}')].every(e => e.tabIndex === 0)"
    )
    assert reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_page_fits_and_follows_the_colour_scheme(
    page: Browser, project: Project, size: tuple[int, int], scheme: str
) -> None:
    page.emulate(*size, scheme)
    visit(page, project, "preset=figA1d")
    page.screenshot(project.path / f"explorer-{size[0]}-{scheme}.png")
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    assert (
        page.run("return document.getElementById('plot').getBoundingClientRect().right") <= size[0]
    )
    for element, style, bright in (("body", "backgroundColor", "light"), ("body", "color", "dark")):
        script = f"return getComputedStyle(document.querySelector('{element}')).{style}"
        channels = [int(c) for c in page.run(script).removeprefix("rgb(").rstrip(")").split(",")]
        assert (min(channels) > 128) == (scheme == bright)


@pytest.mark.parametrize("axes", ["x=log&y=log", "x=linear&y=linear"])
def test_one_length_or_nothing_to_show_is_no_problem(
    page: Browser, project: Project, axes: str
) -> None:
    ids = page.run("return Curves.IDS")
    visit(page, project, f"preset=fig2c&n=5&{axes}&hidden={','.join(ids)}")
    assert page.run("return document.getElementById('plot').data.length") == 0
    visit(page, project, f"preset=fig2c&n=10&{axes}")
    modes = page.run("return document.getElementById('plot').data.map(trace => trace.mode)")
    assert {*modes} == {"markers"}
    assert page.run("return document.getElementById('problems').hidden")


def test_nothing_is_loaded_from_elsewhere(page: Browser) -> None:
    assert page.run("return performance.getEntriesByType('resource').map(e => e.name)") == []


def test_a_slider_redraws_at_once(page: Browser, project: Project) -> None:
    """After a slider's move, theory, controls and chart take at most five times what Plotly alone
    takes for the same chart from nothing; both are measured here, as machines differ."""
    script = """
        const range = document.querySelector('input[type=range][data-key="means.0"]');
        const plot = document.querySelector(".js-plotly-plot");
        const redraws = [], drawings = [];
        const frame = (times, draw) => new Promise(resolve => requestAnimationFrame(() => {
            const begin = performance.now();
            draw();
            setTimeout(() => { times.push(performance.now() - begin); resolve(); });
        }));
        for (let i = 0; i < 30; i++) {
            const drawn = frame(redraws, () => {});
            range.value = -2 + 0.1 * i;
            range.dispatchEvent(new Event("input", { bubbles: true }));  // draws in the same frame
            await drawn;
            const place = plot.parentNode.insertBefore(document.createElement("div"), plot);
            const chart = structuredClone([plot.data, plot.layout]);
            await frame(drawings, () => Plotly.newPlot(place, ...chart));
            Plotly.purge(place);
            place.remove();
        }
        return { redraws, drawings };"""
    for link in ("preset=fig2c", "d=30&weights=0.3,0.7&means=1,2&covs=1,2&n=1,1000"):
        visit(page, project, link)
        page.run(
            "window.measured = null;"
            f"(async () => {{ {script} }})().then(times => window.measured = times)"
        )
        times = page.wait_for("window.measured")
        redraw, drawing = (statistics.median(times[key]) for key in ("redraws", "drawings"))
        print(f"{link}: redraw {redraw:.0f} ms, Plotly alone from nothing {drawing:.0f} ms")
        assert redraw < 5 * drawing
