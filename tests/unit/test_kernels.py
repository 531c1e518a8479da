"""Compiled code: against the plain formulas, and where it is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mixtures
import numpy as np
import pytest
from decoupling import engines, kernels
from decoupling.engines.moments import in_one_pass
from decoupling.kernels import LARGEST, adam, compiled
from decoupling.kernels import normals as normals_kernel
from decoupling.kernels import sampling as sampling_kernel
from decoupling.kernels.tokens import make_tokens
from decoupling.problem.gaussian_moments import population_moments
from decoupling.problem.one_layer import risk_and_gradient
from decoupling.sources.gaussian.contexts import GaussianContexts
from mixtures import MODEL_ARMS
from scipy.special import ndtri

SCRIPTS = Path(__file__).parents[2] / "scripts"

# Takes a step of Adam in a fresh process, on arrays of the type that is named.
STEP = """
import logging, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
logging.basicConfig(level=logging.INFO, format="%(message)s")
from decoupling.train.optimisers import adam
theta, first, second, grad = (np.ones((2, 3), sys.argv[2]) for _ in range(4))
rates = np.ones((1, 3), sys.argv[2])
adam.update(theta, {"first": first, "second": second}, grad, rates, 0.5, 1)
print(theta.sum())
"""


def step(folder: Path, kind: str) -> subprocess.Popen:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", STEP, str(SCRIPTS), kind]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **pipes)


def expected(kind: str) -> float:
    """Six entries of 1, whose first step is the rate times first/√second with both corrected."""
    first, second = 0.9 + 0.1, 0.999 + 0.001
    rate = 0.5 * first / 0.1 / ((second / 0.001) ** 0.5 + 1e-8)
    return 6 * (1 - rate)


@pytest.mark.no_sums
def test_compiled_once_then_read(tmp_path: Path):
    for origin in ("compiled", "read"):
        found = step(tmp_path, "float64")
        out, log = found.communicate()
        assert float(out) == pytest.approx(expected("float64"), rel=1e-12)
        assert f"Kernel adam: {origin} in " in log
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in tmp_path.iterdir())


@pytest.mark.no_sums
def test_jobs_that_start_at_once(tmp_path: Path):
    """Of two kinds of arrays, so that codes could be mistaken for one another; twice, so that what
    the first ones kept is read."""
    for _ in range(2):
        kinds = ["float32", "float64"] * 2
        started = [step(tmp_path, kind) for kind in kinds]
        for kind, process in zip(kinds, started, strict=True):
            out, log = process.communicate()
            assert process.returncode == 0, log
            assert float(out) == pytest.approx(expected(kind), rel=1e-5)


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch, caplog):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert kernels._folder(adam.run, (8,)) is None
    assert "cannot be used" in caplog.text


def test_a_folder_that_cannot_be_made_is_not_used(tmp_path: Path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert kernels._folder(adam.run, (8,)) is None


def test_an_edit_is_another_folder(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = kernels._folder(adam.run, (8,))
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"edited")
    after = kernels._folder(adam.run, (8,))
    assert before != after
    assert kernels._folder(adam.run, (4,)) != after


def test_arrays_of_another_order_are_refused(tmp_path: Path, monkeypatch):
    """Each folder has one signature, which is what makes it safe."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = compiled(adam.run, 8, 8)
    numbers = (0.9, 0.999, 0.1, 1.0, 1e-8)
    arrays = [np.ones((2, 3)) for _ in range(4)]
    kernel(*arrays, np.ones((1, 3)), *map(np.float64, numbers))
    turned = [np.asfortranarray(array) for array in arrays]
    with pytest.raises(TypeError, match="another type or order"):
        kernel(*turned, np.ones((1, 3)), *map(np.float64, numbers))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (10, 3)], ids=str)
def test_one_pass_of_one_layer_is_the_plain_formula(
    shape: tuple, model: str, arm: str, exact: bool
):
    """Double precision; sums in another order."""
    dim, tasks = shape
    mix = mixtures.random_mixture(np.random.default_rng(shape), dim, tasks, 0.3)
    contexts = GaussianContexts(mix, 4)
    moments = contexts.moments() if exact else contexts.batch_moments(1, 0, 200, 1.0)
    made, params = mixtures.random_parameters(mix, model, arm, range(5))
    one_layer = made.forward(params)
    value, grad = in_one_pass(moments, one_layer)
    expected_value, expected_grad = risk_and_gradient(moments, one_layer)
    np.testing.assert_allclose(value, expected_value, rtol=1e-11)
    for name in ("scores", "readouts", "prompts"):
        found, wanted = getattr(grad, name), getattr(expected_grad, name)
        if wanted is None:
            assert found is None
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100])
@pytest.mark.parametrize(
    ("dim", "rank"),
    [(1, 1), (3, 4), (5, 2), (10, 11), (23, 24), (24, 25), (24, 3), (30, 31), (36, 36), (65, 20)],
)
def test_grams_are_products_of_their_factors(dim: int, rank: int, count: int):
    """Counts that vectors do not divide; single precision."""
    rng = np.random.default_rng([dim, rank, count])

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    chol_x, beta = np.tril(normal(dim, dim)), normal(dim, count)
    places = np.tril_indices(dim + 1, -1, rank)
    below, diagonal = normal(len(places[0]), count), np.abs(normal(rank, count))
    found = sampling_kernel.pack_grams(chol_x, 0.7, beta, below, diagonal)
    factor = np.zeros((dim + 1, rank, count))
    factor[places] = below
    factor[range(rank), range(rank)] = diagonal
    features = np.tensordot(chol_x, factor[:-1], axes=1)
    labels = (beta[:, None] * features).sum(0) + 0.7 * factor[-1]
    rows = np.concatenate([features, labels[None]])
    wanted = np.einsum("imb,jmb->ijb", rows, rows)[np.triu_indices(dim + 1)]
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_large_matrices_take_the_plain_formulas():
    """What is too large for the compiled step of one layer works all the same."""
    mix = mixtures.random_mixture(np.random.default_rng(0), LARGEST, 1, 0.1)
    engine = engines.load("moments")(GaussianContexts(mix, 3))
    made, params = mixtures.random_parameters(mix, "reduced", "plain", range(2))
    out = {"weight": np.zeros_like(params["weight"])}
    moments = population_moments(mix, 3)
    risks = engine.risk_and_gradient(made, moments, params, out)
    wanted, _ = risk_and_gradient(moments, made.forward(params))
    np.testing.assert_array_equal(risks, wanted)


def test_box_muller_word_by_word():
    """Against double precision. The radius comes from u in single precision: near u = 1 only its
    absolute error is small, near 0 it reaches 6.6."""
    rng = np.random.default_rng(3)
    words = rng.integers(-(2**31), 2**31, 2 * 4096).astype(np.int32)
    words[:64] = np.repeat([0, 1, 2, 3, -1, -2, 2**31 - 1, -(2**31)], 8)
    words[4096:4160] = np.tile([0, 1, 2, 3, -1, -4, 2**31 - 1, -(2**31)], 8)
    out = np.empty(len(words), np.float32)
    compiled(normals_kernel.run)(words, out, 4096)
    steps = (words[:4096].view(np.uint32) >> 1).astype(np.float32) + np.float32(0.5)
    radius = np.sqrt(-2 * np.log(steps.astype(float) / 2**31))
    angle = np.pi / 2 * ((words[4096:] >> 2) / 2**30 + (words[4096:] & 3))
    expected = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    np.testing.assert_allclose(out, expected, rtol=0, atol=4e-6)
    assert np.abs(out).max() > 6.5


def test_normals_are_normal():
    """Quantiles and correlations within four standard errors: one false alarm in some 800 runs of
    other bits, none with these."""
    count = 2**20
    values = normals_kernel.normals(np.random.default_rng(5), 4, count).astype(float)
    for quantile in (1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999):
        share = (values < ndtri(quantile)).mean()
        assert abs(share - quantile) < 4 * (quantile * (1 - quantile) / values.size) ** 0.5
    for power in (values, values**2 - 1):
        products = power @ power.T / count - np.diag((power**2).mean(1))
        spread = (power**2).mean()
        assert np.abs(products).max() < 4 * spread / count**0.5
        assert abs((power[:, 1:] * power[:, :-1]).mean()) < 4 * spread / values.size**0.5


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (11, 100)])
def test_as_many_normals_as_asked_for(shape: tuple[int, ...]):
    made = [normals_kernel.normals(np.random.default_rng(1), *shape) for _ in range(2)]
    assert made[0].shape == shape
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("count", [1, 15, 16, 70])
@pytest.mark.parametrize("dim", [1, 5, 24, 25, 40])
def test_tokens(dim: int, count: int):
    """Against double precision, written out and in loops."""
    rng = np.random.default_rng(dim)
    chol = np.tril(rng.standard_normal((dim, dim)))
    beta, white = rng.standard_normal((dim, count)), rng.standard_normal((3, dim, count))
    found = make_tokens(*(np.float32(array) for array in (chol, beta, white)))
    x = chol @ white
    expected = np.concatenate([x, np.einsum("njb,jb->nb", x, beta)[:, None]], axis=1)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5 * dim)


@pytest.mark.no_sums
def test_freed_memory_is_kept():
    """An array of some megabytes that comes again needs no new pages; in a process of its own."""
    code = """
import resource
import numpy as np
from decoupling import engines
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
engines.load("moments")
faults()
print(faults())
"""
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 100  # of 40,960 pages
