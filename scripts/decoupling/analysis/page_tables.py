"""Tables of the docs, a query each.

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
from ..theory.excess import SHOWN, excess, several_tasks
from .gate import REDUCED, out_of_gate, with_theory
from .page import Rows, Tables, cell, percent, span

TABLES = Tables()
POINT = list(tables.POINT)
JOB, BY_ARM = ["setting", "n"], ["setting", "n", "arm"]
ATTENTION = "attention"
MODELS = (REDUCED, ATTENTION)
FOUR = ("plain", "finetune", "joint", "joint_heads")  # arms with a theorem
CONTROLS = ("shared", "heads")  # settings that are not in the paper
SOFTMAX = {"softmax_clean": "clean", "softmax_noisy": "noisy"}
WITHIN = 2  # standard errors
PAPER_STEPS, PAPER_SEEDS = 20_000, 50
PRINTED = 1e-6  # rounding of numbers with 8 digits


def beside(risks: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Risks with those of another table at the same points, as `other`."""
    named = other[[*keys, "risk"]].rename(columns={"risk": "other"})
    return risks.merge(named, on=keys)


def off(risks: pd.DataFrame, data: Any, curve: str) -> pd.Series:
    """Relative deviation of risks from a curve of theory, where there is one."""
    both = beside(risks, data.theory[data.theory.curve == curve], BY_ARM)
    return both.risk / both.other - 1


def one_layer(risks: pd.DataFrame, arm: str, model: str = ATTENTION) -> pd.DataFrame:
    own = (risks.layers == 1) & (risks.model == model) & (risks.arm == arm)
    return risks[own & ~risks.setting.isin(CONTROLS)]


@TABLES.add(
    "arm | reduced model from the theorem | attention from the theorem | from the optimum"
    " | `exact` from the optimum | `paper` from the theorem | authors' from the theorem"
)
def agreement(data: Any) -> Rows:
    """Deviations of best seeds; the first three columns are of `laptop`."""
    for arm in FOUR:
        reduced = one_layer(data.laptop, arm, REDUCED)
        laptop, exact, paper, authors = (
            one_layer(risks, arm) for risks in (data.laptop, data.exact, data.paper, data.published)
        )
        shown = (
            (reduced, "theorem"), (laptop, "theorem"), (laptop, "optimum"),
            (exact, "optimum"), (paper, "theorem"), (authors, "theorem"),
        )  # fmt: skip
        yield arm, *(span(off(risks, data, curve), 2) for risks, curve in shown)


@TABLES.add("arm | points | `paper` from `exact` | the most at")
def batches(data: Any) -> Rows:
    """The change of one-layer risks by batches."""
    one = data.paper[data.paper.layers == 1]
    if lacking := sorted(set(one.setting) - set(data.exact.setting)):
        files = " ".join(f"data/exact/risks/{name}.parquet" for name in lacking)
        text = f"exact.parquet lacks {' '.join(lacking)}, which paper.parquet has"
        fix = f"snakemake --config protocol=exact -- {files}"
        raise InputError([f"{text}: {fix}, then python scripts/archive.py exact …"])
    both = beside(one, data.exact, POINT)
    both["change"] = both.risk / both.other - 1
    for arm in FOUR:
        rows = both[both.arm == arm]
        most = rows.loc[rows.change.abs().idxmax()]
        yield arm, len(rows), span(rows.change, 2), f"{most.setting}, {most.model}, n = {most.n}"


@TABLES.add("fig2c, n = | plain | finetune")
def batch_noise(data: Any) -> Rows:
    for row in data.batch_noise.itertuples():
        plain, tuned = row.plain_std / row.plain_mean, row.finetune_std / row.finetune_mean
        yield row.n, f"{plain:.2%}", f"{tuned:.2%}"


@TABLES.add("arm | start moved by 1e-16: best seed | median | other processors: best seed | median")
def rounding(data: Any) -> Rows:
    """Largest relative changes of risks."""
    for arm in FOUR:
        tables = (data.rounding, data.rounding_processors)
        rows = (table[table.arm == arm] for table in tables)
        yield arm, *(f"{abs(row[name]).max():.0e}" for row in rows for name in ("best", "median"))


@TABLES.add("layers | n | arm | `paper` | its median seed | `laptop` | `paper` from `laptop`")
def paper_deep(data: Any) -> Rows:
    """Normalised risks of figures A2(b) and A2(c)."""
    laptop = data.laptop.set_index(POINT)
    for _, row in data.paper[data.paper.layers > 1].sort_values(["layers", "n", "arm"]).iterrows():
        ours = laptop.loc[tuple(row[POINT])]
        best = [(own.normalized, own.normalized_se) for own in (row, ours)]
        median = row["median"] / row.risk * row.normalized
        change = percent(row.normalized / ours.normalized - 1, 1)
        yield row.layers, row.n, row.arm, best[0], median, best[1], change


@TABLES.add("data | layers | n < d: gap | share of plain | n ≥ d: gap | share of plain")
def depth(data: Any) -> Rows:
    """Figure A2: how far joint_heads is below plain, on average over n; d = 10."""
    rows = data.laptop[data.laptop.setting.str.startswith("figA2")]
    rows = rows.assign(data=np.where(rows.setting.str[-1] < "d", "clean", "noisy"))
    risk = rows.pivot(index=["data", "layers", "n"], columns="arm", values="normalized")
    gap = risk.plain - risk.joint_heads
    gains = pd.DataFrame({"gap": gap, "share": gap / risk.plain})
    for point, own in gains.groupby(level=["data", "layers"]):
        short = own.index.get_level_values("n") < 10
        means = [own[where].mean() for where in (short, ~short)]
        yield *point, *(cell for mean in means for cell in (mean.gap, f"{mean.share:.0%}"))


def changes(changed: pd.DataFrame, risks: pd.DataFrame) -> pd.Series:
    """Relative change of archived risks by another recipe; `risk` must be the archived one."""
    keys = ["setting", "n", "layers", "arm"]
    both = changed.merge(risks[[*keys, "normalized"]], on=keys, how="left")
    other = both[~np.isclose(both.risk, both.normalized, rtol=PRINTED, atol=0)]
    for row in other.itertuples():
        text = f"{row.setting} n = {row.n} {row.arm} is compared with {row.risk}, and"
        fix = "run benchmarks/more_training.py again, as its help says"
        raise InputError([f"{text} {row.normalized:.8g} is kept; {fix}"])
    return both.changed / both.risk - 1


@TABLES.add(
    "models | points | bounds that hold | diverged seeds | largest standard error"
    " | largest tail share | change by twice the iterations"
)
def trust(data: Any) -> Rows:
    """Evidence for the risks of models without a theorem."""
    deep = data.laptop[data.laptop.layers > 1]
    families = (
        ("two and three linear layers", deep, data.laptop_bounds, data.deep_doubling),
        ("softmax attention", data.softmax, data.softmax_bounds, data.softmax_doubling),
        ("transformer", data.transformer, data.transformer_bounds, data.transformer_doubling),
    )
    for name, risks, bounds, doubling in families:
        diverged = risks.seeds_total - risks.seeds_ok - risks.seeds_stopped
        held = f"{bounds.holds.sum()} of {len(bounds)}"
        seeds = f"{diverged.sum()} of {risks.seeds_total.sum():,}"
        error = f"{(risks.risk_se / risks.risk).max():.2%}"
        tail = f"{risks.tail_share.max():.1%}"
        yield name, len(risks), held, seeds, error, tail, span(changes(doubling, risks), 1)


@TABLES.add("figure | `laptop`, core-minutes | `paper`, core-hours | of its jobs, measured")
def costs(data: Any) -> Rows:
    """Times at `paper`, measured for jobs that were run whole, else computed from a step's."""
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
def speed(data: Any) -> Rows:
    """Ratios of times of a training step, on one thread."""
    softmax = {f"softmax: {name}": ratio for name, ratio in data.speed["softmax_ratios"].items()}
    for name, ratio in (data.speed["ratios"] | softmax).items():
        yield name, f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


@TABLES.add("arm | what is trained | setting | authors' from the optimum")
def heads_published(data: Any) -> Rows:
    what = {
        "heads": "weights and heads",
        "finetune_only_heads": "heads, frozen weights",
        "finetune_heads": "prompts and heads, frozen weights",
    }
    for arm, words in what.items():
        for setting, rows in data.published[data.published.arm == arm].groupby("setting"):
            yield arm, words, setting, span(off(rows, data, "optimum"), 2)


@TABLES.add(
    "n | fig2a: one prompt's gain, % of joint's"
    " | fig2d: heads below plain | prompts below plain | both below plain"
)
def controls(data: Any) -> Rows:
    shared, heads = (
        data.laptop[data.laptop.setting == name].pivot(index="n", columns="arm", values="risk")
        for name in CONTROLS
    )
    part = (shared.plain - shared.shared) / (shared.plain - shared.joint)
    for n, row in heads.iterrows():
        below = 1 - row[["heads", "joint", "joint_heads"]] / row.plain
        yield n, f"{part[n]:.0%}", *(f"{share:.1%}" for share in below)


@TABLES.add("arm | closed form | least | median | 90th percentile | most")
def mixtures(data: Any) -> Rows:
    """Excess over the optimum, in percent."""
    names = {"theorem": "theorem", "centred": "centred", "energy": "with label energy"}
    mixtures = several_tasks(data.sampled_mixtures)
    for reference, arm in SHOWN:
        shown = excess(mixtures, reference, arm).quantile([0, 0.5, 0.9, 1])
        digits = 2 if reference == "theorem" else 3
        yield arm, names[reference], *(cell(value, digits) for value in shown)


@TABLES.add("arm | best seed | median seed | fewest seeds within 1%")
def random_mixtures(data: Any) -> Rows:
    for arm, rows in data.random_mixtures.groupby("arm", sort=False):
        yield arm, span(rows.best, 2), span(rows["median"], 2), f"{rows.within.min()} of 50"


@TABLES.add(
    "setting | n | plain | joint, task known | inferred | wrong task | likeliest task is wrong"
)
def identity(data: Any) -> Rows:
    """Normalised risks, without noise."""
    shown = data.identity[data.identity.n.isin((1, 3, 5, 10))]
    shown = shown[shown.setting.isin(("identity.fig2c", "identity.fig2d"))]
    for (setting, n), rows in shown.groupby(JOB, sort=False):
        own = rows.set_index(["arm", "told"])
        risk, error = own.normalized, own.normalized_se
        exact = risk["plain", "nothing"], risk["joint", "right"]
        simulated = [(risk["joint", told], error["joint", told]) for told in ("soft", "wrong")]
        yield setting.partition(".")[2], n, *exact, *simulated, f"{rows.wrong.iloc[0]:.1%}"


@TABLES.add("data | n | softmax: plain − joint | linear | ratio | closed by a prompt of zeros")
def softmax(data: Any) -> Rows:
    """Normalised risks. Errors of two risks are added as if independent, and so are too large: the
    contexts are the same."""
    theorem = data.theory[data.theory.curve == "theorem"].set_index(BY_ARM).normalized.sort_index()
    for setting, name in SOFTMAX.items():
        for n, rows in data.softmax[data.softmax.setting == setting].groupby("n"):
            own = rows.set_index("arm")
            risk, error = own.normalized, own.normalized_se
            gap, spread = risk.plain - risk.joint, float(np.hypot(error.plain, error.joint))
            linear = theorem[setting, n, "plain"] - theorem[setting, n, "joint"]
            share = cell((100 * gap / linear, 100 * spread / linear), 0) + "%"
            zeros = cell(100 * (risk.plain - risk.zero_prompt) / gap, 0) + "%"
            yield name, n, (gap, spread), linear, share, zeros


@TABLES.add(
    "table | gate | agree, Gaussian x | agree, measured x | worst from theory, measured x"
    " | agree, all attention, measured x"
    " | gain of joint, reduced | gain of joint, attention | share by one prompt, reduced"
)
def real(data: Any) -> Rows:
    """Held-out risks beside predictions. The theorems are of the reduced model, except with heads,
    which only attention has."""
    for setting, rows in data.real.groupby("setting", sort=False):
        gate = cell((rows.gate.iloc[0], rows.gate_se.iloc[0]), 4)
        points = with_theory(rows, REDUCED, ATTENTION)
        attention = rows[(rows.model == ATTENTION) & rows.measured.notna()]
        apart = points.normalized / points.measured - 1
        gain = rows[rows.arm == "joint"].pivot(index="n", columns="model", values="gain")
        shared = rows[(rows.arm == "shared") & (rows.model == REDUCED)].set_index("n").gain
        part = shared / gain[REDUCED]
        yield (
            setting, gate + (": fails" if out_of_gate(rows) else ""),
            within(points, "theorem"), within(points, "measured"),
            percent(apart.loc[apart.abs().idxmax()], 1), within(attention, "measured"),
            *(" to ".join(cell(f(gain[model]), 3) for f in (min, max)) for model in MODELS),
            f"{part.min():.0%} to {part.max():.0%}",
        )  # fmt: skip


def within(points: pd.DataFrame, curve: str) -> str:
    """The number of points within two standard errors of the difference from a prediction."""
    apart = (points.normalized - points[curve]).abs()
    return f"{(apart <= WITHIN * points[f'{curve}_se']).sum()} of {len(points)}"
