"""The library as a notebook imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import decoupling as dc
import numpy as np
import pytest
from decoupling.sources.gaussian.block import make_spec
from decoupling.theory.optimum import optima
from decoupling.theory.theorems import CLOSED_FORMS

BLOCK = {"d": 2, "weights": [0.3, 0.7], "means": [1.7, [0, 1]], "covs": [1, 2], "noise_var": 0.5}


def test_a_mixture_is_a_settings():
    ours, theirs = dc.Mixture(**BLOCK), make_spec("mixture", BLOCK)
    assert ours.to_json() == theirs.to_json()
    arrays = {"weights": np.array([0.3, 0.7]), "means": (np.float64(1.7), np.array([0, 1]))}
    arrays |= {"d": np.int64(2), "sigma_x": np.eye(2)}
    assert dc.Mixture(**BLOCK | arrays).to_json() == theirs.to_json()


def test_tables_have_what_the_library_says():
    mix = dc.Mixture(**BLOCK)
    table = dc.theorems(mix, n=[1, 4]).set_index(["n", "arm"])
    assert list(table.columns) == ["risk", "normalized"]
    for (n, arm), row in table.iterrows():
        assert row.risk == CLOSED_FORMS["theorem"][arm](mix, n).risk
        assert row.normalized == row.risk / mix.label_power
    assert len(table) == 2 * len(CLOSED_FORMS["theorem"])
    best = dc.optimum(mix, n=4)
    assert dict(zip(best.arm, best.risk, strict=True)) == optima(mix, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": [1]}, "means: has 1 entries for 2 weights; give one per task"),
        ({"covs": [1, [[1, 2], [2, 1]]]}, r"covs\[1\]: is not positive definite"),
        ({"weights": 1}, "weights: is 1; give a list with an entry for each task"),
        ({"d": 2.5}, "d: is 2.5; give a whole number, 1 or more"),
        ({"noise_var": -1}, "noise_var: is -1; a variance is a finite number, 0 or more"),
    ],
)
def test_what_is_wrong_is_named(changes: dict, message: str):
    with pytest.raises(ValueError, match=f"^{message}"):
        dc.Mixture(**BLOCK | changes)


@pytest.mark.parametrize("n", [0, 2.5, "10", [1, -1]])
def test_n_is_a_whole_number(n):
    with pytest.raises(ValueError, match=r"^n: is "):
        dc.theorems(dc.Mixture(**BLOCK), n)


def test_importing_brings_nothing_heavy():
    """Nor does making a mixture; pandas comes with the first table."""
    program = f"""
import sys
from pathlib import Path
import decoupling as dc
dc.Mixture(**{BLOCK!r})
assert not {{"torch", "matplotlib", "pandas", "numba", "scipy"}} & set(sys.modules), sys.modules
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"PYTHONPATH": str(Path(dc.__file__).parents[1])},
    )


def test_other_names_are_missing():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        dc.nothing  # noqa: B018
