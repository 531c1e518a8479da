"""The numbers of docs/reproduction.md on softmax attention and transformers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .scoreboard import violations

ARMS = ("plain", "zero_prompt", "shared", "finetune", "joint", "joint_heads")
SETTINGS = {"softmax_clean": "clean", "softmax_noisy": "noisy"}
FIGURE = "softmax_heads"  # its settings have other numbers of heads
BASE_HEADS = 2
LINEAR = "linear, theorem"  # in the place of a number of heads
VISIBLE = 2  # standard errors
STUCK = 0.01  # above the best seed
LONG = 10  # from this n on, the context is as long as x


def softmax_facts(
    risks: pd.DataFrame, bounds: pd.DataFrame, shares: pd.DataFrame, theory: pd.DataFrame
) -> dict[str, Any]:
    """`theory` has theorems of the mixtures in `SETTINGS`."""
    theorems = theory[theory.curve == "theorem"].set_index(["setting", "n", "arm"]).normalized
    points = risks.set_index(["setting", "n", "arm"])
    gaps = [gap(points, theorems, name, n) for name, n in _lengths(risks)]
    long = [row for row in gaps if row["n"] >= LONG]
    by_heads = heads(points, theorems)
    rows = [attention(shares, name, n) for name, n in _lengths(risks)]
    return {
        "softmax_risks": [listed(points, theorems, name, n) for name, n in _lengths(risks)],
        "softmax_gaps": gaps,
        "softmax_part": {
            key: [min(row[key] for row in long), max(row[key] for row in long)]
            for key in ("of_linear", "zero_prompt", "shared", "joint_off", "joint_heads_off")
        },
        "softmax_alone": [row for row in gaps if row["n"] == 1],
        "softmax_tuned": [
            row for row in gaps if row["finetune_off"] < -VISIBLE * row["finetune_off_se"]
        ],
        "softmax_shares": rows,
        "softmax_heard": heard(rows),
        "softmax_heads": by_heads,
        "softmax_below": below(by_heads),
        "softmax_bounds": kept(bounds, risks),
        "softmax_seeds": seeds(risks),
    }


def _lengths(risks: pd.DataFrame) -> list[tuple[str, int]]:
    return [(name, n) for name in SETTINGS for n in sorted(set(risks[risks.setting == name].n))]


def listed(points: pd.DataFrame, theorems: pd.Series, name: str, n: int) -> dict[str, Any]:
    """Risks of all arms, with their theorems where they have one."""
    cells = {}
    for arm in ARMS:
        row = points.loc[(name, n, arm)]
        cells[arm] = {
            "risk": row.normalized,
            "error": row.normalized_se,
            "theorem": theorems.get((name, n, arm)),
        }
    return {"data": SETTINGS[name], "n": n, "cells": cells}


def gap(points: pd.DataFrame, theorems: pd.Series, name: str, n: int) -> dict[str, Any]:
    """What joint prompts take off plain, beside linear attention's; which part of it a prompt of
    zeros and a shared one have. Errors of risks are added as if they were independent, which is
    too much: they are of the same contexts."""
    risk = {arm: points.loc[(name, n, arm)].normalized for arm in ARMS}
    error = {arm: points.loc[(name, n, arm)].normalized_se for arm in ARMS}
    theorem = {arm: theorems[name, n, arm] for arm in ("plain", "finetune", "joint", "joint_heads")}
    own, linear = risk["plain"] - risk["joint"], theorem["plain"] - theorem["joint"]
    spread = float(np.hypot(error["plain"], error["joint"]))
    parts = {arm: (risk["plain"] - risk[arm]) / own for arm in ("zero_prompt", "shared")}
    return {
        "data": SETTINGS[name],
        "n": n,
        "plain": risk["plain"],
        "plain_error": error["plain"],
        "gap": own,
        "gap_se": spread,
        "linear": linear,
        "of_linear": own / linear,
        "of_linear_se": spread / linear,
        **parts,
        **{
            f"{arm}_se": float(
                np.linalg.norm([(1 - part) * error["plain"], error[arm], part * error["joint"]])
            )
            / own
            for arm, part in parts.items()
        },
        **{f"{arm}_off": risk[arm] / value - 1 for arm, value in theorem.items()},
        **{f"{arm}_off_se": error[arm] / value for arm, value in theorem.items()},
    }


def attention(shares: pd.DataFrame, name: str, n: int) -> dict[str, Any]:
    """The prompt's share in the head with most of it: mean, and what a tenth is below and above."""
    rows = shares[(shares.setting == name) & (shares.n == n) & (shares["head"] == 1)]
    cells = {row.arm: [row.share, row.low, row.high] for row in rows.itertuples()}
    return {"data": SETTINGS[name], "n": n, "cells": cells, "alone": 1 / (n + 1)}


def heard(rows: list[dict[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """From what to what, by arm: the mean share over one token's, n = 1 aside, where it is about a
    half for all; and of long contexts, over the mean what a tenth is below."""
    found = {}
    for arm in rows[0]["cells"]:
        mean = [row["cells"][arm][0] / row["alone"] for row in rows if row["n"] > 1]
        cells = [row["cells"][arm] for row in rows if row["n"] >= LONG]
        least = [low / share for share, low, _ in cells]
        found[arm] = {"mean": [min(mean), max(mean)], "least": [min(least), max(least)]}
    return found


def heads(points: pd.DataFrame, theorems: pd.Series) -> list[dict[str, Any]]:
    """Risks by n and number of heads."""
    base = next(iter(SETTINGS))
    names = {BASE_HEADS: base}
    for name in points.index.unique("setting"):
        if name.startswith(f"{FIGURE}."):
            names[int(name.rpartition(".")[2])] = name
    found = []
    other = next(name for name in names.values() if name != base)
    for n in sorted(points.loc[other].index.unique("n")):
        keys = [*((name, n) for name in names.values())]
        arms = [
            arm
            for arm in ARMS
            if (base, n, arm) in theorems.index and all((*key, arm) in points.index for key in keys)
        ]
        for count in sorted(names):
            cells = {arm: points.loc[(names[count], n, arm)] for arm in arms}
            row = {arm: (cell.normalized, cell.normalized_se) for arm, cell in cells.items()}
            found.append({"n": n, "heads": count, "cells": row})
        values = {arm: (theorems[base, n, arm], 0.0) for arm in arms}
        found.append({"n": n, "heads": LINEAR, "cells": values})
    return found


def below(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With which numbers of attention heads, and n, which arms are visibly below linear attention's
    theorem."""
    theorems = {row["n"]: row["cells"] for row in rows if row["heads"] == LINEAR}
    found = []
    for row in (row for row in rows if row["heads"] != LINEAR):
        values = theorems[row["n"]]
        arms = [
            arm
            for arm, (risk, error) in row["cells"].items()
            if risk < values[arm][0] - VISIBLE * error
        ]
        if arms:
            found.append({"heads": row["heads"], "n": row["n"], "arms": arms})
    return found


def kept(bounds: pd.DataFrame, risks: pd.DataFrame) -> dict[str, Any]:
    """How many bounds there are, how many hold, and which do not."""
    held = int(bounds.holds.sum())
    return {"all": len(bounds), "held": held, "broken": violations(bounds, risks)}


def seeds(risks: pd.DataFrame) -> dict[str, Any]:
    """How many diverged or stopped; and where none stopped, at which points the median seed is far
    from the best: others are stuck there. (A median of winners says nothing of that.)"""
    whole, raced = risks[risks.seeds_stopped == 0], risks[risks.seeds_stopped > 0]
    apart = whole["median"] / whole.risk - 1
    far = whole.assign(apart=apart)[apart > STUCK].sort_values("apart", ascending=False)
    return {
        "total": int(risks.seeds_total.sum()),
        "stopped": int(risks.seeds_stopped.sum()),
        "winners": int(raced.seeds_ok.median()) if len(raced) else 0,
        "diverged": int((risks.seeds_total - risks.seeds_ok - risks.seeds_stopped).sum()),
        "points": len(risks),
        "whole": len(whole),
        "stuck": STUCK,
        "far": far[["setting", "n", "arm", "apart"]].to_dict("records"),
    }


def transformer_facts(
    risks: pd.DataFrame, bounds: pd.DataFrame, theory: pd.DataFrame, doubling: list[Mapping]
) -> dict[str, Any]:
    """Every depth and arm beside linear attention's theorem and what twice the iterations give."""
    own = (theory.curve == "theorem") & (theory.setting == risks.setting.iloc[0])
    theorems = theory[own].set_index(["n", "arm"]).normalized
    twice = {(row["n"], row["layers"], row["arm"]): row for row in doubling}
    rows = []
    for row in risks.sort_values(["n", "layers"]).itertuples():
        more = twice.get((row.n, row.layers, row.arm))
        rows.append(
            {
                "n": row.n,
                "layers": row.layers,
                "arm": row.arm,
                "risk": row.normalized,
                "error": row.normalized_se,
                "median": row.median / row.risk * row.normalized,
                "theorem": theorems.get((row.n, row.arm)),
                "doubled": more and more["changed"],
            }
        )
    return {
        "transformer": rows,
        "transformer_bounds": kept(bounds, risks),
        "transformer_gain": {
            who: _prompt_gains(rows, key) for who, key in (("best", "risk"), ("median", "median"))
        },
        "transformer_doubled": _doubled_gains(rows),
    }


def _prompt_gains(rows: list[dict[str, Any]], key: str) -> dict[int, float]:
    """By depth: which part of plain's risk task prompts take off."""
    value = {(row["layers"], row["arm"]): row[key] for row in rows}
    depths = sorted({row["layers"] for row in rows})
    return {layers: 1 - value[layers, "joint"] / value[layers, "plain"] for layers in depths}


def _doubled_gains(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What prompts take off plain with twice the iterations, best seeds; empty if not known."""
    risks = {(row["layers"], row["arm"]): row["doubled"] for row in rows}
    if None in risks.values():
        return []
    return [
        {
            "layers": layers,
            **{arm: 1 - risks[layers, arm] / risks[layers, "plain"] for arm in ("shared", "joint")},
        }
        for layers in sorted({layers for layers, _ in risks})
    ]
