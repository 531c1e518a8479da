"""Archived results as tables to read: every trained point beside its references, and real data."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..tables import POINT

TRAINED = {  # files of risks, each with its protocol
    "laptop": "laptop",
    "noise": "laptop",
    "softmax": "laptop",
    "transformer": "laptop",
    "exact": "exact",
    "paper": "paper",
}
COMPUTED = ("theorem", "optimum")
DIGITS = 6  # significant


def points(data: Any) -> pd.DataFrame:
    """Every trained point, with the risks of theory and of the authors there."""
    tables = [getattr(data, name).assign(protocol=by) for name, by in TRAINED.items()]
    found = pd.concat(tables, ignore_index=True)
    found = found[["protocol", *(name for name in found if name != "protocol")]]
    theory = data.theory.pivot(index=["setting", "n", "arm"], columns="curve", values="risk")
    found = found.merge(theory[[*COMPUTED]], on=["setting", "n", "arm"], how="left")
    found.loc[found.layers > 1, [*COMPUTED]] = float("nan")  # references are of one layer
    authors = data.published[[*POINT, "risk"]].rename(columns={"risk": "published"})
    return found.merge(authors, on=[*POINT], how="left")


def csv_files(data: Any) -> dict[str, str]:
    """The text of each file, by its name."""
    found = {
        "points": points(data),
        "real": data.real,
        "identity": data.identity,
        "prompt_share": data.softmax_prompt_share,
    }
    return {f"{name}.csv": text(table) for name, table in found.items()}


def text(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")
