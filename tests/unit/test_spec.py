"""A block of the config becomes numbers, or a list of what to change."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import mixtures
import numpy as np
import pytest
from decoupling.errors import InputError
from decoupling.problem.mixture import TaskMixture
from decoupling.sources.gaussian.block import make_spec

NAN = float("nan")
SKEW = [[2, 0.5], [0.1, 1]]
INDEFINITE = [[1, 2], [2, 1]]
FULL = [[2, 0.5], [0.5, 1]]


def block(**changes) -> dict:
    good = {"d": 2, "weights": [0.25, 0.75], "means": [1.5, -1], "covs": [1, 2]}
    return {**good, **changes}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"means": [1.5, -1]}, [[1.5, 1.5], [-1, -1]]),
        ({"means": [[1, 2], 0]}, [[1, 2], [0, 0]]),
    ],
)
def test_means(changes: dict, expected: list):
    np.testing.assert_array_equal(make_spec("m", block(**changes)).means, expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"covs": [1, 2.5]}, [np.eye(2), 2.5 * np.eye(2)]),
        ({"covs": [1, 2], "cov_base": "identity"}, [np.eye(2), 2 * np.eye(2)]),
        ({"covs": [1, 2], "cov_base": [3, 4]}, [np.diag([3, 4]), np.diag([6, 8])]),
        ({"covs": [1, 2], "cov_base": FULL}, [FULL, 2 * np.array(FULL)]),
        ({"covs": [FULL, [5, 6]], "cov_base": [3, 4]}, [FULL, np.diag([5, 6])]),
    ],
)
def test_covariances(changes: dict, expected: list):
    np.testing.assert_array_equal(make_spec("m", block(**changes)).covs, expected)


@pytest.mark.parametrize(
    ("value", "expected"), [("identity", np.eye(2)), ([3, 4], np.diag([3, 4])), (FULL, FULL)]
)
def test_sigma_x(value, expected):
    np.testing.assert_array_equal(make_spec("m", block(sigma_x=value)).sigma_x, expected)


def test_defaults():
    mix = make_spec("m", block())
    np.testing.assert_array_equal(mix.sigma_x, np.eye(2))
    assert mix.noise_var == 0
    assert (mix.dim, mix.tasks) == (2, 2)


@pytest.mark.parametrize("name", mixtures.PAPER_BLOCKS)
def test_mixture_summaries(name: str):
    """S̄, M and E[y²] by loops over tasks."""
    mix = mixtures.paper(name)
    tasks = list(zip(mix.weights, mix.means, mix.covs, strict=True))
    mean_outer = sum(w * np.outer(mu, mu) for w, mu, _ in tasks)
    debiased = sum(w * cov for w, _, cov in tasks)
    np.testing.assert_allclose(mix.biased_cov, debiased + mean_outer, rtol=1e-14)
    power = sum(w * (np.trace(cov) + mu @ mu) for w, mu, cov in tasks) + mix.noise_var
    assert mix.label_power == pytest.approx(power, rel=1e-14)


@pytest.mark.parametrize("case", mixtures.random_cases(8), ids=mixtures.case_name)
def test_json_round_trip(case):
    mix = case[0]
    back = TaskMixture.from_json(mix.to_json())
    for field in fields(TaskMixture):
        np.testing.assert_array_equal(getattr(back, field.name), getattr(mix, field.name))
    assert back.fingerprint == mix.fingerprint


def test_json_fields():
    written = json.loads(make_spec("m", block()).to_json())
    expected = ["name", "d", "K", "weights", "means", "covs", "sigma_x", "noise_var"]
    assert list(written) == expected


def _one_number_changed(mix: TaskMixture) -> list[TaskMixture]:
    """A copy for every single number of the mixture, moved to the next float."""
    changed = [replace(mix, noise_var=float(np.nextafter(mix.noise_var, 9)))]
    for name in ("weights", "means", "covs", "sigma_x"):
        for index in np.ndindex(getattr(mix, name).shape):
            array = getattr(mix, name).copy()
            array[index] = np.nextafter(array[index], 9)
            changed.append(replace(mix, **{name: array}))
    return changed


def test_fingerprint_tells_every_number_apart():
    mix = mixtures.random_mixture(np.random.default_rng(0), 2, 2, 0.5)
    variants = [mix, *_one_number_changed(mix)]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_fingerprint_does_not_depend_on_the_name():
    mix = mixtures.random_mixture(np.random.default_rng(0), 2, 2, 0.5)
    assert replace(mix, name="other").fingerprint == mix.fingerprint


def test_fingerprint_has_zeros_of_one_sign():
    plus, minus = (make_spec("m", block(means=[zero, 1])) for zero in (0.0, -0.0))
    assert plus.fingerprint == minus.fingerprint


def test_fingerprint_tells_shapes_apart():
    """The same numbers, as a row or as a column."""
    ones = [np.ones(shape) for shape in ((1, 2), (1, 2, 2), (2, 2))]
    one = TaskMixture("m", np.ones(2), *ones, 0.0)
    other = replace(one, means=one.means.T)
    assert one.fingerprint != other.fingerprint


BAD = {
    "d below 1": ({"d": 0}, "d", "1 or more"),
    "d not whole": ({"d": 2.5}, "d", "whole number"),
    "d a string": ({"d": "2"}, "d", "whole number"),
    "weights sum": ({"weights": [0.5, 0.6]}, "weights", "sum to 1"),
    "weight zero": ({"weights": [0, 1]}, "weights", "drop that task"),
    "weight negative": ({"weights": [-0.5, 1.5]}, "weights", "drop that task"),
    "weight NaN": ({"weights": [NAN, 0.5]}, "weights", "finite numbers"),
    "weight not a number": ({"weights": ["a", 0.5]}, "weights", "2 numbers"),
    "no tasks": ({"weights": [], "means": [], "covs": []}, "weights", "one positive weight"),
    "means too few": ({"means": [1]}, "means", "one per task"),
    "covs too many": ({"covs": [1, 1, 1]}, "covs", "one per task"),
    "mean too long": ({"means": [[1, 2, 3], 0]}, "means[0]", "list of 2 numbers"),
    "mean NaN": ({"means": [0, NAN]}, "means[1]", "finite numbers"),
    "mean infinite": ({"means": [0, [1, float("inf")]]}, "means[1]", "finite numbers"),
    "mean a word": ({"means": ["one", 0]}, "means[0]", "list of 2 numbers"),
    "cov zero": ({"covs": [1, 0]}, "covs[1]", "above 0"),
    "cov negative": ({"covs": [-1, 1]}, "covs[0]", "above 0"),
    "cov NaN": ({"covs": [NAN, 1]}, "covs[0]", "above 0"),
    "cov not symmetric": ({"covs": [1, SKEW]}, "covs[1]", "make it equal to"),
    "cov not definite": ({"covs": [INDEFINITE, 1]}, "covs[0]", "eigenvalues positive"),
    "cov singular": ({"covs": [[[1, 1], [1, 1]], 1]}, "covs[0]", "eigenvalues positive"),
    "cov wrong shape": ({"covs": [[[1, 0]], 1]}, "covs[0]", "2×2"),
    "cov ragged": ({"covs": [[[1, 0], [1]], 1]}, "covs[0]", "2×2"),
    "cov diagonal long": ({"covs": [[1, 1, 1], 1]}, "covs[0]", "list of 2 numbers"),
    "base unknown word": ({"cov_base": "diagonal"}, "cov_base", "'identity'"),
    "base not definite": ({"cov_base": [1, -1]}, "cov_base", "eigenvalues positive"),
    "base not symmetric": ({"cov_base": SKEW}, "cov_base", "make it equal to"),
    "sigma_x not symmetric": ({"sigma_x": SKEW}, "sigma_x", "make it equal to"),
    "sigma_x not definite": ({"sigma_x": INDEFINITE}, "sigma_x", "eigenvalues positive"),
    "sigma_x NaN": ({"sigma_x": [1, NAN]}, "sigma_x", "finite numbers"),
    "sigma_x too short": ({"sigma_x": [1]}, "sigma_x", "list of 2 numbers"),
    "noise negative": ({"noise_var": -0.1}, "noise_var", "0 or more"),
    "noise NaN": ({"noise_var": NAN}, "noise_var", "finite"),
    "noise a string": ({"noise_var": "1e-3"}, "noise_var", "write 0.001"),
}


@pytest.mark.parametrize(("changes", "entry", "fix"), BAD.values(), ids=BAD.keys())
def test_invalid_block(changes: dict, entry: str, fix: str):
    """One problem, one line: where it is and what to do."""
    with pytest.raises(InputError) as caught:
        make_spec("mine", block(**changes))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(f"settings.mine.{entry}: ")
    assert fix in caught.value.problems[0]


def test_all_problems_at_once():
    bad = block(
        weights=[0.5, 0.6], means=[NAN, 0, 1], covs=[SKEW, -1], sigma_x=INDEFINITE, noise_var=-1
    )
    with pytest.raises(InputError) as caught:
        make_spec("mine", bad)
    entries = {problem.split(":")[0] for problem in caught.value.problems}
    names = ("weights", "means[0]", "means", "covs[0]", "covs[1]", "sigma_x", "noise_var")
    assert entries == {f"settings.mine.{name}" for name in names}
    assert str(caught.value).splitlines() == caught.value.problems
