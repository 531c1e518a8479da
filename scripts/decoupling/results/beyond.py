"""The numbers of docs/reproduction.md that the paper has no counterpart of: a shared prompt, heads
without prompts, tasks that are not told, joint training without Assumption 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..theory.excess import SHOWN, excess, several_tasks

TOLD = (("joint", "right"), ("joint", "soft"), ("joint", "map"), ("joint", "wrong"))
OTHERS = (("plain", "nothing"), ("bayes", "right"), ("bayes", "soft"))
LENGTHS = (1, 3, 5, 10, 50)  # that the table of identity shows


def beyond(
    one_prompt: pd.DataFrame,
    heads_alone: pd.DataFrame,
    theory: pd.DataFrame,
    sampled: pd.DataFrame,
    identity: pd.DataFrame,
) -> dict[str, Any]:
    """Risks of the settings `shared` and `heads`; `theory` is of `shared`."""
    return {
        "shared": shared(one_prompt),
        "heads": heads(heads_alone),
        "centred": centred(theory),
        "mixtures": mixtures(several_tasks(sampled)),
        "mixture_count": sampled.mixture.nunique(),
        "several_count": several_tasks(sampled).mixture.nunique(),
        "identity": told(identity, LENGTHS),
    }


def shared(risks: pd.DataFrame) -> list[dict[str, Any]]:
    """By n: normalised risks, and which share of what task prompts gain a common one has."""
    table = risks.pivot(index="n", columns="arm", values="normalized")
    part = (table.plain - table.shared) / (table.plain - table.joint)
    return table.assign(part=part).reset_index().to_dict("records")


def heads(risks: pd.DataFrame) -> list[dict[str, Any]]:
    """By n: normalised risks, and which part of plain's heads, prompts and both take off."""
    table = risks.pivot(index="n", columns="arm", values="normalized")
    for arm in ("heads", "joint", "joint_heads"):
        table[f"{arm}_part"] = 1 - table[arm] / table.plain
    return table.reset_index().to_dict("records")


def centred(theory: pd.DataFrame) -> list[dict[str, Any]]:
    """By n: joint's risk as printed, centred, with the label energy, and at the optimum."""
    joint = theory[theory.arm == "joint"]
    return joint.pivot(index="n", columns="curve", values="risk").reset_index().to_dict("records")


def mixtures(sampled: pd.DataFrame) -> list[dict[str, Any]]:
    """How far closed forms are above the optimum of random mixtures, in percent."""
    found = []
    for reference, arm in SHOWN:
        values = excess(sampled, reference, arm)
        row = {"reference": reference, "arm": arm, "least": values.min(), "most": values.max()}
        found.append(row | {"median": values.median(), "ninth": values.quantile(0.9)})
    return found


def told(identity: pd.DataFrame, lengths: Sequence[int]) -> list[dict[str, Any]]:
    """By setting and n: normalised risks by arm and what it is told, with their errors, and
    P(wrong)."""
    found = []
    shown = identity[identity.n.isin(lengths)]
    for (name, n), rows in shown.groupby(["setting", "n"], sort=False):
        risk = rows.set_index(["arm", "told"])[["normalized", "normalized_se"]]
        cells = [tuple(risk.loc[key]) for key in (*OTHERS[:1], *TOLD, *OTHERS[1:])]
        setting = name.partition(".")[2]
        row = {"setting": setting, "n": n, "risks": cells, "wrong": rows.wrong.iloc[0]}
        soft, told, plain = (risk.loc[key] for key in (TOLD[1], TOLD[0], OTHERS[0]))
        row["weighing_worse"] = bool(soft.normalized > plain.normalized)
        row["over_told"] = told.normalized - soft.normalized
        row["over_told_se"] = soft.normalized_se
        found.append(row)
    return found
