"""The interface for notebooks: mixtures in the config's words, their theorems and optima.

import decoupling as dc

mix = dc.Mixture(d=10, weights=[0.3, 0.7], means=[1.7, -1.3], covs=[1, 2])
dc.theorems(mix, n=[1, 10, 50])
dc.optimum(mix, n=10)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError
from .problem.mixture import TaskMixture
from .sources.gaussian.block import make_spec

if TYPE_CHECKING:
    import pandas as pd

NAME = "mixture"


def Mixture(  # noqa: N802, a function with the name of what it returns
    *,
    d: int,
    weights: Any,
    means: Any,
    covs: Any,
    cov_base: Any = "identity",
    sigma_x: Any = "identity",
    noise_var: float = 0,
) -> TaskMixture:
    """A mixture of K tasks, with the keys of a setting in the config (config/README.md).

    Lists may be NumPy arrays. A ValueError has a line for each problem.
    """
    block = {"d": d, "weights": weights, "means": means, "covs": covs}
    block |= {"cov_base": cov_base, "sigma_x": sigma_x, "noise_var": noise_var}
    plain = {key: _plain(value) for key, value in block.items()}
    for key in ("weights", "means", "covs"):
        if not isinstance(plain[key], list):
            raise ValueError(f"{key}: is {plain[key]!r}; give a list with an entry for each task")
    try:
        return make_spec(NAME, plain)
    except InputError as error:
        lines = [line.removeprefix(f"settings.{NAME}.") for line in error.problems]
        raise ValueError("\n".join(lines)) from None


def theorems(mix: TaskMixture, n: int | Iterable[int]) -> pd.DataFrame:
    """Theorems 1–4 and one shared prompt, a row for each n and arm."""
    from .theory.theorems import CLOSED_FORMS

    forms = CLOSED_FORMS["theorem"]

    def risks(length: int) -> dict[str, float]:
        return {arm: form(mix, length).risk for arm, form in forms.items()}

    return _table(mix, n, risks)


def optimum(mix: TaskMixture, n: int | Iterable[int]) -> pd.DataFrame:
    """The least risk of attention found numerically, a row for each n and arm."""
    from .theory.optimum import optima

    return _table(mix, n, lambda length: optima(mix, length))


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists, NumPy's numbers as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _table(
    mix: TaskMixture, n: int | Iterable[int], risks: Callable[[int], Mapping[str, float]]
) -> pd.DataFrame:
    import pandas as pd

    lengths = list(n) if isinstance(n, Iterable) else [n]
    for length in lengths:
        if not isinstance(length, int | np.integer) or length < 1:
            raise ValueError(f"n: is {length!r}; give a whole number, 1 or more, or several")
    rows = [
        {"n": int(length), "arm": arm, "risk": risk, "normalized": risk / mix.label_power}
        for length in lengths
        for arm, risk in risks(int(length)).items()
    ]
    return pd.DataFrame(rows)
