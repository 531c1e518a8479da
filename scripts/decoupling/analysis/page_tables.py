"""Tables of docs/reproduction.md on the paper's settings, theorems and protocol.

A query has the name of its table's marker, and yields rows of cells. `data` has the files of
data/archive by their names without suffix, and `theory` and `published`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import tables
from ..errors import InputError
from ..models.arms import ARMS
from ..problem.mixture import TaskMixture
from ..theory.heads import bound, rescaled
from ..theory.optimum import optima
from ..theory.theorems import joint_heads
from .cross_validation import REDUCED
from .page import Rows, Tables, percent, span

TABLES = Tables()
POINT = list(tables.POINT)
CURVE, JOB, BY_ARM = ["setting", "model", "arm"], ["setting", "n"], ["setting", "n", "arm"]
CONTROLS = ("shared", "heads")  # settings that are not in the paper
PROMPTS = ("plain", "joint", "joint_heads")
PAPER_STEPS, PAPER_SEEDS = 20_000, 50
PRINTED = 1e-6  # rounding of numbers that are kept with 8 digits


def in_order(column: pd.Series) -> pd.Series:
    """A key to sort by: arms in the order of ARMS."""
    return column.map(list(ARMS).index) if column.name == "arm" else column


def off(risks: pd.DataFrame, theory: pd.DataFrame, curve: str) -> pd.Series:
    """Relative deviation of risks from a curve of theory, where there is one."""
    reference = theory[theory.curve == curve][[*BY_ARM, "risk"]]
    both = risks[[*BY_ARM, "risk"]].merge(reference, on=BY_ARM, suffixes=("", "_theory"))
    return both.risk / both.risk_theory - 1


def one_layer(risks: pd.DataFrame, theory: pd.DataFrame) -> Rows:
    one = risks[(risks.layers == 1) & ~risks.setting.isin(CONTROLS)]
    one = one.sort_values(["model", "arm"], key=in_order)
    for curve, rows in one.groupby(["model", "arm"], sort=False):
        reduced = curve[0] == REDUCED
        best = "the theorem is its optimum" if reduced else span(off(rows, theory, "optimum"))
        settings = ", ".join(sorted(set(rows.setting)))
        yield *curve, settings, len(rows), span(off(rows, theory, "theorem")), best


@TABLES.add("model | arm | settings | points | from the theorem | from the numerical optimum")
def laptop_one_layer(data: Any) -> Rows:
    return one_layer(data.laptop, data.theory)


@TABLES.add("model | arm | settings | points | from the theorem | from the numerical optimum")
def exact_one_layer(data: Any) -> Rows:
    return one_layer(data.exact, data.theory)


@TABLES.add("arm | best of 50 seeds | median seed")
def rounding(data: Any) -> Rows:
    for row in data.rounding.itertuples():
        yield row.arm, f"{abs(row.best):.1e}", f"{abs(row.median):.1e}"


def beside(data: Any) -> pd.DataFrame:
    """One layer by the paper's protocol, and the risks of `exact`, theorem and authors."""
    one = data.paper[data.paper.layers == 1].sort_values([*CURVE, "n"], key=in_order)
    if lacking := sorted(set(one.setting) - set(data.exact.setting)):
        names = " ".join(lacking)
        files = " ".join(f"data/exact/risks/{name}.parquet" for name in lacking)
        text = f"exact.parquet lacks {names}, which paper.parquet has and the page compares:"
        fix = f"snakemake --config protocol=exact -- {files}"
        raise InputError([f"{text} {fix}, then python scripts/archive.py exact {names}"])
    theorem = data.theory[data.theory.curve == "theorem"]
    others = (("exact", data.exact, POINT), ("theorem", theorem, BY_ARM))
    for name, other, keys in (*others, ("authors", data.published, POINT)):
        risk = other[[*keys, "risk"]].rename(columns={"risk": name})
        one = one.merge(risk, on=keys, how="left")
    return one.assign(change=one.risk / one.exact - 1)


@TABLES.add(
    "setting | model | arm | points | `paper` against `exact` | `paper` from the theorem"
    " | published from the theorem"
)
def paper_curves(data: Any) -> Rows:
    for curve, rows in beside(data).groupby(CURVE, sort=False):
        ours, theirs = (rows[who] / rows.theorem - 1 for who in ("risk", "authors"))
        published = span(theirs, 2) if theirs.notna().any() else ""
        yield *curve, len(rows), span(rows.change, 2), span(ours, 2), published


@TABLES.add(
    "setting | model | arm | n | `paper` | `exact` | `paper` against `exact` | theorem | published"
)
def paper_points(data: Any) -> Rows:
    for row in beside(data).itertuples():
        published = "" if np.isnan(row.authors) else row.authors
        point = row.setting, row.model, row.arm, row.n
        yield *point, row.risk, row.exact, percent(row.change), row.theorem, published


@TABLES.add("fig2c, n = | plain | finetune")
def batch_noise(data: Any) -> Rows:
    for row in data.batch_noise.itertuples():
        plain, tuned = row.plain_std / row.plain_mean, row.finetune_std / row.finetune_mean
        yield row.n, f"{plain:.2%}", f"{tuned:.2%}"


@TABLES.add(
    "setting | layers | n | arm | `paper`, best seed | median seed | seeds at the end"
    " | `laptop`, best seed | median of those that finish | `paper` against `laptop`",
    digits=5,
)
def paper_deep(data: Any) -> Rows:
    laptop = data.laptop.set_index(POINT)
    deep = data.paper[data.paper.layers > 1].sort_values(["layers", "n", "arm"])
    for _, row in deep.iterrows():
        ours = laptop.loc[tuple(row[POINT])]
        best = [(own.normalized, own.normalized_se) for own in (row, ours)]
        median = [own["median"] / own.risk * own.normalized for own in (row, ours)]
        change = percent(row.normalized / ours.normalized - 1, 1)
        point = row.setting, row.layers, row.n, row.arm
        yield *point, best[0], median[0], row.seeds_ok, best[1], median[1], change


@TABLES.add(
    "setting | n | plain: Theorem 1 | optimum | joint: Theorem 3 | centred | with label energy"
    " | optimum"
)
def assumption(data: Any) -> Rows:
    theory = data.theory
    shown = theory[theory.setting.str.startswith("fig") & ~theory.setting.str.contains("A2")]
    longest = shown[shown.n == shown.groupby("setting").n.transform("max")]
    for job, rows in longest.groupby(JOB):
        risk = rows.set_index(["arm", "curve"]).risk
        plain = [risk["plain", curve] for curve in ("theorem", "optimum")]
        joint = [risk["joint", curve] for curve in ("theorem", "centred", "energy", "optimum")]
        yield *job, *plain, *joint


@TABLES.add("task heads | risk", digits=6)
def heads_example(_: Any) -> Rows:
    """Heads that reach a lower risk than Theorem 4."""
    means, covs = np.array([[1.0, 1], [-1, -1]]), np.stack([np.diag([4, 0.05]), np.eye(2)])
    mix, n = TaskMixture("example", np.full(2, 0.5), means, covs, np.eye(2), 0.0), 10
    yield "Theorem 4", joint_heads(mix, n).risk
    yield "rescaled", rescaled(mix, n).risk
    yield "optimum found numerically, means 0", optima(mix.scaled_means(0), n)["joint_heads"]
    yield "optimum found numerically, means ±(1, 1)", optima(mix, n)["joint_heads"]
    yield "nothing is below", bound(mix, n)


def figure_a2(data: Any) -> pd.DataFrame:
    deep = data.laptop[data.laptop.setting.str.startswith("figA2")]
    return deep.assign(data=np.where(deep.setting.str[-1] < "d", "clean", "noisy"))


@TABLES.add("data | n | 1 layer | 2 layers | 3 layers")
def deep(data: Any) -> Rows:
    for point, rows in figure_a2(data).groupby(["data", "n"]):
        own = rows.set_index(["layers", "arm"])
        text = own.normalized.map("{:.4f}".format)
        error = own.normalized_se.map(" ± {:.4f}".format)
        text = text.where(text.index.get_level_values("layers") == 1, text + error)
        yield *point, *(" / ".join(text[layers, arm] for arm in PROMPTS) for layers in (1, 2, 3))


@TABLES.add("data | layers | n < d: gap | share of plain | n ≥ d: gap | share of plain")
def deep_gains(data: Any) -> Rows:
    risk = figure_a2(data).pivot(index=["data", "layers", "n"], columns="arm", values="normalized")
    gap = risk.plain - risk.joint_heads
    gains = pd.DataFrame({"gap": gap, "share": gap / risk.plain})
    for point, rows in gains.groupby(level=["data", "layers"]):
        short = rows.index.get_level_values("n") < 10
        means = [rows[where].mean() for where in (short, ~short)]
        yield *point, *(cell for mean in means for cell in (mean.gap, f"{mean.share:.0%}"))


def changes(changed: pd.DataFrame, risks: pd.DataFrame) -> Rows:
    """Kept risks, with a changed recipe, and the ratio; the first must be those that are kept."""
    keys = ["setting", "n", "layers", "arm"]
    for row in changed.merge(risks[[*keys, "normalized"]], on=keys, how="left").itertuples():
        point = row.setting, row.n, row.layers, row.arm
        if not np.isclose(row.risk, row.normalized, rtol=PRINTED, atol=0):
            text = f"{point} is compared with {row.risk}, and {row.normalized:.8g} is kept"
            raise InputError([f"{text}; run benchmarks/more_training.py again, as its help says"])
        old, new = (row.risk, row.risk_se), (row.changed, row.changed_se)
        yield *point, old, new, row.changed / row.risk


@TABLES.add("setting | n | layers | arm | risk | doubled | change")
def deep_doubling(data: Any) -> Rows:
    for *cells, ratio in changes(data.deep_doubling, data.laptop):
        yield *cells, percent(ratio - 1, 1)


@TABLES.add("setting | n | layers | arm | best of the race | best of all 50 | regret")
def deep_regret(data: Any) -> Rows:
    for *cells, ratio in changes(data.deep_regret, data.laptop):
        yield *cells, percent(1 / ratio - 1, 1)


@TABLES.add("figure | `laptop`, core-minutes | `paper`, core-hours | of its jobs, measured")
def costs(data: Any) -> Rows:
    """At `paper`: measured for jobs that were run whole, else from measured times of a step."""
    spent, measured = (
        costs.set_index(JOB).core_minutes for costs in (data.laptop_costs, data.paper_costs)
    )
    paper = {job: {*rows.model + rows.arm} for job, rows in data.paper.groupby(JOB)}
    figures = data.laptop[~data.laptop.setting.isin(CONTROLS)]
    for figure, points in figures.groupby(figures.setting.str[:-1]):
        jobs = dict(iter(points.groupby(JOB)))
        whole = {
            job
            for job, rows in jobs.items()
            if job in measured and paper.get(job) == {*rows.model + rows.arm}
        }
        hours = [
            measured[job] / 60 if job in whole else job_hours(rows, data.speed)
            for job, rows in jobs.items()
        ]
        minutes = spent[spent.index.get_level_values("setting").isin(points.setting)].sum()
        yield figure, f"{minutes:.0f}", f"{sum(hours):.1f}", f"{len(whole)} of {len(jobs)}"


def job_hours(rows: pd.DataFrame, speed: dict[str, Any]) -> float:
    """Core-hours of one n. One-layer arms share the batches of a stage, which take most of the
    time; the time of deeper arms grows with the seeds."""
    layers, arms = rows.layers.iloc[0], set(rows.arm)
    stages = 1 if all(ARMS[arm].trains.weights for arm in arms) else 2
    passes = stages if layers == 1 else len(arms)
    name = "minibatch n=50" if layers == 1 else f"gram L={layers}, n=20"
    step = speed["ms_per_seed_step"][f"{name}, {PAPER_SEEDS} seeds"]
    return passes * PAPER_STEPS * PAPER_SEEDS * step / 3.6e6


@TABLES.add("ratio | ")
def speed_ratios(data: Any) -> Rows:
    for name, ratio in data.speed["ratios"].items():
        yield name, f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


@TABLES.add(" | 1 seed | 50 seeds", digits=0)
def speed_exact_step(data: Any) -> Rows:
    one, fifty = (data.speed["exact_step_us"][seeds] for seeds in ("1", "50"))
    for part in one:
        yield part, one[part], fifty[part]


@TABLES.add("n | literal | 8 seeds | 50 seeds | literal / 8 seeds | literal / 50 seeds")
def speed_softmax(data: Any) -> Rows:
    step = data.speed["ms_per_seed_step"]
    for n in (1, 10, 50):
        literal, few, many = (
            step[name]
            for name in (f"literal softmax n={n}", *(f"softmax n={n}, {k} seeds" for k in (8, 50)))
        )
        times = f"{literal:.1f}", f"{few:.2f}", f"{many:.3f}"
        yield n, *times, f"{literal / few:.0f}", f"{literal / many:.0f}"


@TABLES.add("arm | what | setting | published from the optimum")
def heads_published(data: Any) -> Rows:
    what = {
        "heads": "heads and weights",
        "finetune_only_heads": "heads on frozen weights",
        "finetune_heads": "heads and prompts on frozen weights",
        "joint_heads": "heads, prompts and weights",
    }
    for arm, words in what.items():
        for setting, rows in data.published[data.published.arm == arm].groupby("setting"):
            yield arm, words, setting, span(off(rows, data.theory, "optimum"), 2)
