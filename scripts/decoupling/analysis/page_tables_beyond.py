"""Tables of docs/reproduction.md beyond the paper: a shared prompt, heads alone, random mixtures,
inferred tasks, softmax attention, transformers, real data.

As in `page_tables`; `data` also has `sampled` and `identity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..tables import BASELINE
from ..theory.excess import SHOWN, excess, several_tasks
from ..theory.theorems import THEOREMS
from .cross_validation import REDUCED, out_of_gate, with_theory
from .page import Rows, Tables, cell, percent, span
from .page_tables import BY_ARM, JOB, changes, in_order

TABLES = Tables()
SOFTMAX = {"softmax_clean": "clean", "softmax_noisy": "noisy"}
WITH_PROMPT = ("zero_prompt", "shared", "finetune", "joint", "joint_heads")
ATTENTION = "attention"
WITHIN = 2  # standard errors
UNITS = {  # unit of a context, task, cluster that stays in one fold
    "bdf": ("pupils of a Dutch school, differences", "test asked for", "schools"),
    "vietnam": (
        "households of a Vietnamese commune, differences", "expenditure asked for", "communes",
    ),
    "star_differences": ("pupils of a class in Tennessee, differences", "grade", "schools"),
    "star": ("pupils of a class in Tennessee, as rows with an intercept", "grade", "schools"),
    "vietnam_total": (
        "households of a commune, as rows with an intercept", "urban or rural", "communes",
    ),
}  # fmt: skip


def by_arm(data: Any, setting: str) -> pd.DataFrame:
    rows = data.laptop[data.laptop.setting == setting]
    return rows.pivot(index="n", columns="arm", values="normalized")


@TABLES.add("n | plain | shared | joint | of joint's gain, shared has")
def shared(data: Any) -> Rows:
    for n, row in by_arm(data, "shared").iterrows():
        part = (row.plain - row.shared) / (row.plain - row.joint)
        yield n, row.plain, row.shared, row.joint, f"{part:.0%}"


@TABLES.add(
    "n | plain | heads | prompts | both | heads take off | prompts take off | both take off"
)
def heads(data: Any) -> Rows:
    for n, row in by_arm(data, "heads").iterrows():
        trained = row[["heads", "joint", "joint_heads"]]
        yield n, row.plain, *trained, *(f"{part:.1%}" for part in 1 - trained / row.plain)


@TABLES.add("n | Theorem 3 as printed | centred | with label energy | numerical optimum")
def centred(data: Any) -> Rows:
    joint = data.theory[(data.theory.setting == "shared") & (data.theory.arm == "joint")]
    for n, row in joint.pivot(index="n", columns="curve", values="risk").iterrows():
        yield n, row.theorem, row.centred, row.energy, row.optimum


@TABLES.add("arm | closed form | least | median | nine in ten below | most")
def mixtures(data: Any) -> Rows:
    names = {"theorem": "Theorem", "centred": "Theorem 3, centred", "energy": "with label energy"}
    mixtures = several_tasks(data.sampled_mixtures)
    for reference, arm in SHOWN:
        shown = excess(mixtures, reference, arm).quantile([0, 0.5, 0.9, 1])
        digits = 2 if reference == "theorem" else 4
        yield arm, names[reference], *(cell(value, digits) for value in shown)


@TABLES.add("arm | best seed | median seed | fewest within 1% | different risks there")
def random_mixtures(data: Any) -> Rows:
    for arm, rows in data.random_mixtures.groupby("arm", sort=False):
        worst = rows.sort_values("within").iloc[0]
        fewest = f"{worst.within} of 50"
        yield arm, span(rows.best, 2), span(rows["median"], 2), fewest, worst["values"]


@TABLES.add(
    "setting | n | plain | joint, told | joint, soft | joint, MAP | joint, wrong | Bayes, told"
    " | Bayes, untold | P(wrong)"
)
def identity(data: Any) -> Rows:
    exact = (("plain", "nothing"), ("joint", "right"))
    simulated = [("joint", told) for told in ("soft", "map", "wrong")]
    simulated += [("bayes", told) for told in ("right", "soft")]
    shown = data.identity[data.identity.n.isin((1, 3, 5, 10, 50))]
    for (setting, n), rows in shown.groupby(JOB, sort=False):
        own = rows.set_index(["arm", "told"])
        risk, error = own.normalized, own.normalized_se
        cells = [risk[key] for key in exact] + [(risk[key], error[key]) for key in simulated]
        yield setting.partition(".")[2], n, *cells, rows.wrong.iloc[0]


def softmax(data: Any) -> Iterator[tuple[str, int, pd.Series, pd.Series, pd.Series]]:
    """Name, n; by arm, normalised risks, their errors and linear attention's theorems."""
    theorem = theorems(data)
    for setting, name in SOFTMAX.items():
        for n, rows in data.softmax[data.softmax.setting == setting].groupby("n"):
            own = rows.set_index("arm")
            yield name, n, own.normalized, own.normalized_se, theorem[setting, n]


def theorems(data: Any) -> pd.Series:
    return data.theory[data.theory.curve == "theorem"].set_index(BY_ARM).normalized.sort_index()


@TABLES.add("data | n | plain | zero prompt | shared | fine-tuned | joint | joint and task heads")
def softmax_risks(data: Any) -> Rows:
    for name, n, risk, error, theorem in softmax(data):
        cells = {arm: cell((risk[arm], error[arm]), 4) for arm in ("plain", *WITH_PROMPT)}
        for arm in THEOREMS:
            cells[arm] += f", linear {theorem[arm]:.4f}"
        yield name, n, *cells.values()


@TABLES.add(
    "data | n | gap | linear | share of linear's | of it, zero prompt | of it, shared prompt"
)
def softmax_gaps(data: Any) -> Rows:
    """Gaps between arms. Errors of the two risks are added as if independent, which is too large:
    the contexts are the same."""
    for name, n, risk, error, theorem in softmax(data):
        gap, linear = risk.plain - risk.joint, theorem.plain - theorem.joint
        spread = float(np.hypot(error.plain, error.joint))
        cells = [cell((100 * gap / linear, 100 * spread / linear), 0) + "%"]
        for arm in ("zero_prompt", "shared"):
            part = (risk.plain - risk[arm]) / gap
            both = (1 - part) * error.plain, error[arm], part * error.joint
            cells.append(cell((100 * part, 100 * np.linalg.norm(both) / gap), 1) + "%")
        yield name, n, (gap, spread), linear, *cells


@TABLES.add("data | n | plain, Theorem 1 | fine-tuned, 2 | joint, 3 | joint and task heads, 4")
def softmax_theorems(data: Any) -> Rows:
    for name, n, risk, error, theorem in softmax(data):
        shares = [(risk[arm] / theorem[arm] - 1, error[arm] / theorem[arm]) for arm in THEOREMS]
        yield name, n, *(f"{percent(share, 1)} ± {spread:.1%}" for share, spread in shares)


@TABLES.add(
    "data | n | 1/(n + 1) | zero prompt | shared | fine-tuned | joint | joint and task heads",
    digits=3,
)
def softmax_shares(data: Any) -> Rows:
    first = data.softmax_prompt_share[data.softmax_prompt_share["head"] == 1]
    for (setting, n), rows in first.groupby(JOB):
        own = rows.set_index("arm")
        cells = own.apply(lambda row: f"{row.share:.3f} ({row.low:.3f}–{row.high:.3f})", axis=1)
        yield SOFTMAX[setting], n, 1 / (n + 1), *cells[list(WITH_PROMPT)]


@TABLES.add("n | attention heads | plain | shared | joint | joint and task heads")
def softmax_heads(data: Any) -> Rows:
    arms = ("plain", "shared", "joint", "joint_heads")
    points, theorem = data.softmax.set_index(BY_ARM), theorems(data)
    settings = {heads: f"softmax_heads.{heads}" for heads in (1, 2, 4, 8)} | {2: "softmax_clean"}
    for n in sorted(set(data.softmax[data.softmax.setting == settings[1]].n)):
        for heads, setting in settings.items():
            rows = [points.loc[(setting, n, arm)] for arm in arms]
            yield n, heads, *((row.normalized, row.normalized_se) for row in rows)
        yield n, "linear, theorem", *(theorem["softmax_clean", n, arm] for arm in arms)


@TABLES.add("setting | n | arm | risk | doubled | change")
def softmax_doubling(data: Any) -> Rows:
    for setting, n, _, *cells, ratio in changes(data.softmax_doubling, data.softmax):
        yield setting, n, *cells, percent(ratio - 1, 1)


@TABLES.add(
    "n | blocks | arm | best seed | median seed | linear attention, theorem | twice the iterations"
)
def transformer(data: Any) -> Rows:
    theorem = theorems(data)
    doubled = changes(data.transformer_doubling, data.transformer)
    twice = {
        tuple(point): f"{new:.4f} ({percent(ratio - 1, 1)})"
        for *point, _, (new, _), ratio in doubled
    }
    for row in data.transformer.sort_values(["n", "layers", "arm"], key=in_order).itertuples():
        best, median = (row.normalized, row.normalized_se), row.median / row.risk * row.normalized
        linear = theorem[row.setting, row.n, row.arm]
        more = twice.get((row.setting, row.n, row.layers, row.arm), "not run")
        yield row.n, row.layers, row.arm, best, median, linear, more


def by_setting(data: Any) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows of real data by setting, in the order of the file."""
    yield from data.real.groupby("setting", sort=False)


def with_errors(row: pd.Series, *names: str) -> list[tuple[float, float]]:
    return [(row[name], row[f"{name}_se"]) for name in names]


@TABLES.add(
    "setting | contexts of | task | units, by task (before short ones were left out) | folded by"
    " | n | E[y²], predicted over measured"
)
def real_units(data: Any) -> Rows:
    for setting, rows in by_setting(data):
        first, (contexts, task, clusters) = rows.iloc[0], UNITS[setting]
        units, folded = f"{first.units} ({first.units_total})", f"{first.clusters} {clusters}"
        gate = cell((first.gate, first.gate_se), 3) + (": fails" if out_of_gate(rows) else "")
        lengths = ", ".join(map(str, sorted(set(rows.n))))
        yield setting, contexts, task, units, folded, lengths, gate


@TABLES.add(
    "setting | arm | theorem, Gaussian x | theorem, measured x | reduced, held out"
    " | attention, held out",
    digits=3,
)
def real_risks(data: Any) -> Rows:
    """Predicted and held-out risks. The theorems are of the reduced model, except with heads."""
    for setting, rows in by_setting(data):
        own = rows[rows.n == 5].set_index(["model", "arm"])
        for arm in ("plain", "finetune", "shared", "joint", "joint_heads"):
            attention = own.loc[(ATTENTION, arm)]
            row = attention if arm == "joint_heads" else own.loc[(REDUCED, arm)]
            (reduced,) = ["–"] if row is attention else with_errors(row, "normalized")
            theory = row.theorem, row.measured
            yield setting, arm, *theory, reduced, *with_errors(attention, "normalized")


@TABLES.add(
    "setting | points | within, Gaussian x | within, measured x | from Gaussian x | from measured x"
)
def real_agreement(data: Any) -> Rows:
    """How many predictions are within two standard errors of the difference."""
    for setting, rows in by_setting(data):
        points = with_theory(rows, REDUCED, ATTENTION)
        name = setting + (", gate fails" if out_of_gate(rows) else "")
        within, ranges = [], []
        for curve in ("theorem", "measured"):
            apart = points.normalized - points[curve]
            within.append((apart.abs() <= WITHIN * points[f"{curve}_se"]).sum())
            ranges.append(span(apart / points[curve], 1))
        yield name, len(points), *within, *ranges


@TABLES.add(
    "setting | n | predicted, Gaussian x | predicted, measured x | reduced, held out"
    " | of it, one prompt | own | attention, held out"
)
def real_gains(data: Any) -> Rows:
    for setting, rows in by_setting(data):
        by_point = rows.set_index(["n", "model", "arm"])
        for n in sorted(set(rows.n)):
            shared, joint = (by_point.loc[(n, REDUCED, arm)] for arm in ("shared", "joint"))
            theory = [cell(joint[f"{curve}_gain"], 3) for curve in ("theorem", "measured")]
            gain, own = with_errors(joint, "gain", "over_shared")
            part = f"{shared.gain / joint.gain:.0%}"
            attention = with_errors(by_point.loc[(n, ATTENTION, "joint")], "gain")
            yield setting, n, *theory, cell(gain, 3), part, own, *attention


@TABLES.add(
    "setting | n | attention, joint | BLUP | group's mean | pooled | ridge | least squares"
    " | over the group's mean",
    digits=3,
)
def real_context(data: Any) -> Rows:
    """Baselines and joint training at the longest n."""
    for setting, rows in by_setting(data):
        last = rows[rows.n == rows.n.max()].set_index(["model", "arm"])
        joint = last.loc[(ATTENTION, "joint")]
        names = ("blup", "group_mean", "pooled", "ridge", "ols")
        baselines = [last.normalized[BASELINE, name] for name in names]
        risk, over_mean = with_errors(joint, "normalized", "over_mean")
        yield setting, rows.n.max(), risk, *baselines, cell(over_mean, 4)
