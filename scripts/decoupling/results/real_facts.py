"""The numbers of docs/reproduction.md on real data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..tables import BASELINE
from .real import REDUCED, out_of_gate, with_theory

SHOWN = 5  # the context length whose risks are listed
WITHIN = 2  # standard errors
ORDER = ("plain", "finetune", "shared", "joint", "joint_heads")
MODEL = "attention"


def real_facts(real: pd.DataFrame) -> dict[str, Any]:
    """`real` has the rows of every setting with a table."""
    settings = list(dict.fromkeys(real.setting))
    tables = {name: real[real.setting == name] for name in settings}
    agreements = [agreement(rows) for rows in tables.values()]
    sound = [row for row in agreements if row["sound"]]
    totals = {key: sum(row[key] for row in sound) for key in ("points", "theorem", "measured")}
    gained = [row for name in tables for row in gains(tables[name])]
    trusted = {row["setting"] for row in sound}
    return {
        "real_about": [about(rows) for rows in tables.values()],
        "real_points": [row for rows in tables.values() for row in points(rows)],
        "real_agreement": agreements,
        "real_sound": totals,
        "real_gains": gained,
        "real_gained": gains_predicted([row for row in gained if row["setting"] in trusted]),
        "real_context": [context(rows) for rows in tables.values()],
        "real_seeds": int(real.seeds.max()),
    }


def about(rows: pd.DataFrame) -> dict[str, Any]:
    first = rows.iloc[0]
    keys = ("setting", "units", "units_total", "clusters", "gate", "gate_se")
    found = {key: first[key] for key in keys}
    return found | {"n": sorted(set(rows.n)), "sound": not out_of_gate(rows)}


def points(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """At one n: risks of every arm, by theory and trained."""
    found = with_theory(rows[rows.n == SHOWN], REDUCED, MODEL)
    found = found.sort_values("arm", key=lambda arms: arms.map(ORDER.index))
    attention = rows[(rows.n == SHOWN) & (rows.model == MODEL)].set_index("arm")
    keys = ("setting", "arm", "theorem", "independent", "measured", "normalized", "normalized_se")
    listed = []
    for row in found.to_dict("records"):
        own = attention.loc[row["arm"]]
        both = {"attention": own.normalized, "attention_se": own.normalized_se}
        listed.append({key: row[key] for key in keys} | both)
    return listed


def agreement(rows: pd.DataFrame) -> dict[str, Any]:
    """How many points are within two standard errors of theory, those of the difference, and how
    far they are from it."""
    found = with_theory(rows, REDUCED, MODEL)
    row: dict[str, Any] = {"setting": rows.setting.iloc[0], "points": len(found)}
    row["sound"] = not out_of_gate(rows)
    for curve in ("theorem", "measured"):
        off = found.normalized - found[curve]
        row[curve] = int((off.abs() <= WITHIN * found[f"{curve}_se"]).sum())
        relative = off / found[curve]
        row |= {f"{curve}_least": relative.min(), f"{curve}_most": relative.max()}
    return row


def gains(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """By n: what joint prompts gain over plain; what of it one prompt for all has; and the rest."""
    found = []
    own = rows[rows.model == REDUCED].set_index(["n", "arm"])
    attention = rows[rows.model == MODEL].set_index(["n", "arm"])
    for n in sorted(set(rows.n)):
        shared, joint = (own.loc[(n, arm)] for arm in ("shared", "joint"))
        row = {"setting": joint.setting, "n": n, "gain": joint.gain, "gain_se": joint.gain_se}
        for curve in ("theorem", "measured"):
            row |= {curve: joint[f"{curve}_gain"], f"{curve}_se": joint[f"{curve}_gain_se"]}
        row |= {"part": shared.gain / joint.gain}
        row |= {"own": joint.over_shared, "own_se": joint.over_shared_se}
        with_attention = attention.loc[(n, "joint")]
        row |= {"attention": with_attention.gain, "attention_se": with_attention.gain_se}
        found.append(row)
    return found


def gains_predicted(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many gains are within two standard errors of what is predicted of the reduced model; and
    with measured x, in which settings all or some are not."""
    table = pd.DataFrame(rows)
    within = {
        curve: (table.gain - table[curve]).abs() <= WITHIN * table[f"{curve}_se"]
        for curve in ("theorem", "measured")
    }
    missed = table[~within["measured"]].groupby("setting", sort=False).size()
    of = table.groupby("setting").size()
    return {
        "points": len(table),
        **{curve: int(found.sum()) for curve, found in within.items()},
        "missed": [(name, int(count), int(of[name])) for name, count in missed.items()],
    }


def context(rows: pd.DataFrame) -> dict[str, Any]:
    """At the longest n: what attention with prompts and the baselines reach, and what joint prompts
    gain over the group's mean, which sees no context."""
    n = rows.n.max()
    last = rows[rows.n == n]
    baselines = last[last.model == BASELINE].set_index("arm").normalized
    joint = last[(last.model == MODEL) & (last.arm == "joint")].iloc[0]
    found = {"setting": joint.setting, "n": n, "joint": joint.normalized}
    found |= {"joint_se": joint.normalized_se, **baselines.to_dict()}
    return found | {"over_mean": joint.over_mean, "over_mean_se": joint.over_mean_se}
