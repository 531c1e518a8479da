"""The numbers of docs/reproduction.md, from kept results, theory and published risks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..models.arms import ARMS
from ..problem.mixture import TaskMixture
from ..problem.moments import population_moments
from ..problem.one_layer import OneLayer, risk
from ..theory.gaps import GAPS, gap, slope
from ..theory.theorems import finetune, joint
from .kept import Kept, arms_in_order, span
from .paper_facts import (
    batch_cost,
    by_curve,
    deep_apart,
    deep_minutes,
    most_changed,
    paper_deep,
    protocols,
    whole_jobs,
)
from .scoreboard import deviations, violations
from .tables import POINT

PAPER_STEPS, PAPER_SEEDS = 20_000, 50
RATIOS_AT = (1, 10, 100, 1_000, 100_000)
UNBOUND = {  # of arms that Assumption 1 costs something: what they are compared with
    "plain": ("theorem", "optimum"),
    "joint": ("theorem", "centred", "energy", "optimum"),
}


def facts(
    kept: Kept,
    theory: pd.DataFrame,
    rates: pd.DataFrame,
    specs: Mapping[str, TaskMixture],
    published: pd.DataFrame,
    figures: Mapping[str, list[str]],
) -> dict[str, Any]:
    """Everything the page's template names; `figures` says which settings a figure shows."""
    curves = {
        name: rows.set_index(["setting", "n", "arm"]).risk for name, rows in theory.groupby("curve")
    }
    beside = protocols(kept, curves, published)
    deep = paper_deep(kept)
    depth_gains = gains(kept.laptop)
    return {
        "one_layer": list(one_layer(kept.laptop, curves)),
        "plain_adam": list(one_layer(kept.exact, curves)),
        "protocols": beside,
        "by_curve": by_curve(beside),
        "most_changed": most_changed(beside),
        "paper_deep": deep,
        "deep_apart": deep_apart(deep) if deep else None,
        "deep_minutes": deep_minutes(kept),
        "batch_cost": span(batch_cost(kept)),
        "costs": list(costs(kept, figures)),
        "job": job(kept),
        "speed": kept.speed,
        "deep": depths(kept.laptop),
        "gains": depth_gains,
        "exceptions": exceptions(depth_gains),
        "trust": trust(kept.laptop, kept.bounds),
        "slopes": slopes(rates),
        "printed_prompt": printed_prompt(specs["figA1d"], 1),
        "assumption": assumption(curves),
        "gap_ratios": gap_ratios(rates),
        "prompt_entries": prompt_entries(specs["fig2c"], 50),
        "apart": span(pd.Series([distance(specs[name]) for name in ("fig2c", "figA1b", "fig2d")])),
        "zero_means": worst_from(kept.laptop, specs["fig2b"]),
        "heads_below": span(_against(curves["optimum"], curves["theorem"], "joint_heads")),
        "tuned_above": span(_against(curves["optimum"], curves["theorem"], "finetune")),
        "published_plain": published_bias(published, curves["optimum"], "plain"),
        "published_heads": published_bias(published, curves["theorem"], "joint_heads"),
    }


def one_layer(risks: pd.DataFrame, curves: Mapping[str, pd.Series]) -> Iterable[dict[str, Any]]:
    """For every model and arm, the least and the largest deviation from each reference."""
    points = risks[risks.layers == 1].sort_values(["model", "arm"], key=arms_in_order)
    for (model, arm), rows in points.groupby(["model", "arm"], sort=False):
        trained = rows.set_index(["setting", "n", "arm"]).risk
        found = {name: deviations(trained, reference) for name, reference in curves.items()}
        yield {
            "model": model,
            "arm": arm,
            "settings": sorted(set(rows.setting)),
            "points": len(rows),
            "theorem": span(found["theorem"]),
            "optimum": span(found["optimum"]) if model == "attention" else None,
        }


def costs(kept: Kept, figures: Mapping[str, list[str]]) -> Iterable[dict[str, Any]]:
    """Core-time of a figure: measured at `laptop`; at `paper` measured where a job was run whole,
    else from measured times of a step."""
    spent = kept.costs["laptop"].groupby("setting").core_minutes.sum()
    measured = whole_jobs(kept)
    for figure, settings in figures.items():
        points = kept.laptop[kept.laptop.setting.isin(settings)].groupby(["setting", "n"])
        hours = {
            point: measured[point] / 60 if point in measured else _job_hours(rows, kept.speed)
            for point, rows in points
        }
        yield {
            "figure": figure,
            "laptop_minutes": sum(spent[name] for name in settings),
            "paper_hours": sum(hours.values()),
            "jobs": len(hours),
            "measured": len(hours.keys() & measured.keys()),
        }


def _job_hours(rows: pd.DataFrame, speed: Mapping[str, Any]) -> float:
    """Of one n. One-layer arms share the batches of a stage, and a step is little more than the
    batch; deeper arms pay for every seed."""
    step, layers = speed["ms_per_seed_step"], rows.layers.iloc[0]
    tuned = not all(ARMS[arm].weights for arm in rows.arm)
    arms = rows.arm.nunique()
    passes = (2 if tuned else 1) if layers == 1 else arms
    name = "minibatch n=50" if layers == 1 else f"gram L={layers}, n=20"
    per_step = PAPER_SEEDS * step[f"{name}, {PAPER_SEEDS} seeds"]
    return passes * PAPER_STEPS * per_step / 3.6e6


def job(kept: Kept) -> dict[str, float]:
    """fig2d, n = 50, all arms: measured here, and extrapolated for the literal implementation."""
    measured = kept.costs["paper"].set_index(["setting", "n"]).loc[("fig2d", 50)]
    arms = kept.paper[(kept.paper.setting == "fig2d") & (kept.paper.n == 50)].arm.nunique()
    step = kept.speed["ms_per_seed_step"]["literal n=50"]
    return {
        "arms": arms,
        "core_minutes": measured.core_minutes,
        "max_rss_mb": measured.max_rss_mb,
        "literal_hours": arms * PAPER_SEEDS * PAPER_STEPS * step / 3.6e6,
    }


def depths(laptop: pd.DataFrame) -> list[dict[str, Any]]:
    """figA2's points: normalised risks and standard errors of its arms, a row per (data, n)."""
    found = []
    for data, settings in {"clean": "abc", "noisy": "def"}.items():
        panels = laptop[laptop.setting.isin([f"figA2{letter}" for letter in settings])]
        table = panels.rename(columns={"normalized_se": "error"}).set_index(["n", "layers", "arm"])
        for n in sorted(set(panels.n)):
            cells = table.loc[n][["normalized", "error"]].to_dict("index")
            found.append({"data": data, "n": n, "cells": cells})
    return found


def gains(laptop: pd.DataFrame) -> list[dict[str, Any]]:
    """What prompts and heads take off plain's normalised risk at each depth, for n below and above
    d = 10: the mean gap, and as a share of plain's risk."""
    found = []
    for row in depths(laptop):
        for layers in (1, 2, 3):
            plain, least = (row["cells"][layers, arm]["normalized"] for arm in ("plain", BEST))
            found.append(
                {
                    "data": row["data"],
                    "layers": layers,
                    "short": row["n"] < 10,
                    "gap": plain - least,
                    "share": 1 - least / plain,
                }
            )
    means = pd.DataFrame(found).groupby(["data", "layers", "short"]).mean()
    return means.reset_index().to_dict("records")


def exceptions(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Where `gains` are not as the paper says: `short`, larger below d than above; `depth`, smaller
    with every layer; each for the gap and for its share of plain's risk."""
    by_point = {(row["data"], row["layers"], row["short"]): row for row in rows}
    found: dict[str, list[str]] = {}
    for what in ("gap", "share"):
        value = {point: row[what] for point, row in by_point.items()}
        found[f"short_{what}"] = [
            f"{data} data with {layers} layer{'s' if layers > 1 else ''}"
            for data, layers, short in value
            if short and value[data, layers, True] <= value[data, layers, False]
        ]
        found[f"depth_{what}"] = [
            f"{data} data with n {'<' if short else '≥'} d"
            for data, layers, short in value
            if layers == 1
            and not value[data, 1, short] > value[data, 2, short] > value[data, 3, short]
        ]
    return found


def trust(laptop: pd.DataFrame, bounds: pd.DataFrame) -> dict[str, Any]:
    """What can be said of the deeper points: bounds, standard errors, tails, seeds."""
    deeper = laptop[laptop.layers > 1]
    point = [*POINT]
    holds = bounds.groupby(point).holds.all()
    return {
        "points": len(deeper),
        "bounded": len(holds),
        "held": int(holds.sum()),
        "broken": violations(bounds, laptop),
        "error": (deeper.risk_se / deeper.risk).max(),
        "uncertain": int((deeper.risk_se / deeper.risk > 0.01).sum()),
        "tail": deeper.tail_share.max(),
        "tail_median": deeper.tail_share.median(),
        "heaviest": deeper.loc[deeper.tail_share.idxmax()].to_dict(),
        "diverged": int((deeper.seeds_total - deeper.seeds_ok - deeper.seeds_stopped).sum()),
        "seeds": int(deeper.seeds_total.sum()),
        "finished": int(deeper.seeds_ok.median()),
    }


BEST = "joint_heads"  # of figA2's arms, the one with most parameters of its own per task


def printed_prompt(mix: TaskMixture, n: int) -> dict[str, float]:
    """Theorem 3's risk, and that of the prompts as the paper prints them."""
    solution = joint(mix, n)
    inverse = np.linalg.inv(mix.sigma_x @ solution.weight)
    top = mix.means @ (inverse - n * np.eye(mix.dim)) @ mix.sigma_x
    prompts = np.hstack([top, np.ones((mix.tasks, 1))])[:, None]
    scores = np.pad(solution.weight, ((0, 0), (0, 1)))[None]
    model = OneLayer(scores, solution.readouts[:, None], prompts)
    return {"right": solution.risk, "printed": risk(population_moments(mix, n), model).item()}


def prompt_entries(mix: TaskMixture, n: int) -> dict[str, float]:
    """The first entry of the first task's prompt at n: by Theorems 2 and 3, and −nΣxμ."""
    forms = {"finetune": finetune, "joint": joint}
    found = {arm: form(mix, n).prompts[0, 0] for arm, form in forms.items()}
    return found | {"printed": -n * (mix.sigma_x @ mix.means[0])[0]}


def distance(mix: TaskMixture) -> float:
    """Between the means of the first two tasks."""
    return float(np.linalg.norm(mix.means[0] - mix.means[1]))


def gap_ratios(rates: pd.DataFrame) -> list[tuple[int, float]]:
    """By n, some of them: what fine-tuning gains on plain over what joint training gains on it."""
    theorems = rates[rates.curve == "theorem"]
    upper, lower = (gap(theorems, arms, "n") for arms in GAPS[:2])
    ratios = upper / lower
    return [(n, float(ratios[n])) for n in RATIOS_AT]


def slopes(rates: pd.DataFrame) -> dict[str, float]:
    """The powers of n by which the gaps between theorems close, named by the lower arm."""
    theorems = rates[rates.curve == "theorem"]
    return {arms[1]: slope(gap(theorems, arms, "n")) for arms in GAPS}


def assumption(curves: Mapping[str, pd.Series]) -> list[dict[str, Any]]:
    """At each setting's longest context, plain and joint by theorem, by closed forms that do
    without Assumption 1, and at the optimum."""
    found = []
    settings = sorted({name for name, _, _ in curves["theorem"].index if "A2" not in name})
    for setting in settings:
        n = max(n for name, n, _ in curves["theorem"].index if name == setting)
        row = {"setting": setting, "n": n}
        for arm, names in UNBOUND.items():
            row[arm] = {name: curves[name][setting, n, arm] for name in names}
        found.append(row)
    return found


def worst_from(laptop: pd.DataFrame, mix: TaskMixture) -> float:
    """The largest relative deviation of normalised risks from what zero means and isotropic tasks
    give, (d + 1)/(n + d + 1)."""
    rows = laptop[laptop.setting == mix.name]
    size = mix.dim + 1
    return (rows.normalized / (size / (rows.n + size)) - 1).abs().max()


def published_bias(published: pd.DataFrame, reference: pd.Series, arm: str) -> dict[str, float]:
    """The authors' deviations from a reference, of attention."""
    rows = published[(published.arm == arm) & (published.model == "attention")]
    return span(deviations(rows.set_index(["setting", "n", "arm"]).risk, reference))


def _against(values: pd.Series, reference: pd.Series, arm: str) -> pd.Series:
    return deviations(values.xs(arm, level="arm"), reference.xs(arm, level="arm"))
