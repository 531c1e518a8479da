"""Training: Adam, seeds, stages, divergence, checkpoints, schedules."""

from __future__ import annotations

import io
import logging
import math
import pickle
from dataclasses import replace
from functools import partial

import literal
import mixtures
import numpy as np
import pandas as pd
import pytest
import torch
from decoupling import engines
from decoupling.engines.gram_torch import TorchEngine
from decoupling.files import atomic_path
from decoupling.models.arms import ARMS
from decoupling.models.base import Model
from decoupling.models.curve import Curve
from decoupling.problem.gram import GramBatch
from decoupling.problem.moments import batch_moments
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.train import loop
from decoupling.train.checkpoint import Checkpoint
from decoupling.train.optimisers import adam, sgd
from decoupling.train.recipe import WARMUP_STEPS, Recipe, Run
from decoupling.train.state import MEMORY, TrainState
from mixtures import MODEL_ARMS, literal_risk

MIX = mixtures.random_mixture(np.random.default_rng(11), 3, 2, 0.5)
N = 6
CONTEXTS = GaussianContexts(MIX, N)
EXACT = Recipe(iterations=30, lr=1e-2)
BATCH = replace(EXACT, batch_size=256)
SGD = replace(EXACT, optimiser="sgd", lr=3e-3)
DEEP = replace(EXACT, batch_size=128, test_contexts=500)
# name: recipe, layers and the relative precision of the arithmetic over a short training
ENGINES = {
    "exact": (EXACT, 1, 1e-9),
    "minibatch": (BATCH, 1, 1e-9),
    "deep": (DEEP, 2, 1e-4),
    "sgd": (SGD, 1, 1e-9),
}


def train(*args, **kwargs) -> list[dict]:
    return loop.train(*args, **kwargs).rows


def run_of(model: str, layers: int, arm: str, recipe: Recipe) -> Run:
    module = model if layers == 1 else "deep_attention"
    return Run(Curve(MIX.name, module, model, layers, arm, ARMS[arm].trains), recipe)


def runs_of(engine: str, arms: tuple[str, ...]) -> list[Run]:
    recipe, layers, _ = ENGINES[engine]
    return [run_of("attention", layers, arm, recipe) for arm in arms]


def by_seed(rows: list[dict], arm: str) -> dict[int, dict]:
    return {row["seed"]: row for row in rows if row["arm"] == arm}


def scratch_state(run: Run, seeds: range, engine=None) -> TrainState:
    """With the plain weights of its own initialisation where the arm needs frozen ones."""
    engine = engine or engines.load(run.curve.model_class.engine)(CONTEXTS)
    shape = (MIX.dim, MIX.tasks)
    if run.curve.arm in ("plain", "joint", "joint_heads", "heads"):
        return TrainState(run, engine, shape, seeds)
    curve = replace(run.curve, arm="plain", trains=ARMS["plain"].trains)
    plain = TrainState(replace(run, curve=curve), engine, shape, seeds)
    return TrainState(run, engine, shape, seeds, plain.params)


def torchs(
    state: TrainState, losses, steps: int, optimiser=torch.optim.Adam
) -> dict[str, torch.Tensor]:
    """Torch's optimiser on autograd's gradient, from the state's parameters."""
    recipe = state.run.recipe
    start = {name: torch.as_tensor(array).detach() for name, array in state.params.items()}
    leaves = {name: start[name].clone().requires_grad_() for name in state.shapes}
    factors = [recipe.prompt_lr_factor if name == "prompts" else 1 for name in leaves]
    groups = [{"params": [leaf]} for leaf in leaves.values()]
    optimizer = optimiser(groups, lr=recipe.lr)
    logs: list[np.ndarray] = []  # of every iteration's risks
    for iteration in range(steps):
        for group, factor in zip(optimizer.param_groups, factors, strict=True):
            grown = recipe.mean_scale_at(iteration) if recipe.prompts_with_means else 1
            group["lr"] = factor * recipe.lr_at(iteration) * (grown if factor != 1 else 1)
        optimizer.zero_grad()
        risks = losses({**start, **leaves}, iteration)
        logs.append(np.log(risks.detach().numpy() + MIX.noise_var))
        risks.sum().backward()
        for seed in range(len(state.seeds)):
            grads = [leaf.grad[seed] for leaf in leaves.values()]
            norm = torch.cat([grad.flatten() for grad in grads]).norm()
            if recipe.clip_ratio is not None:
                most = recipe.clip_ratio * np.exp(np.mean(logs[-MEMORY:], axis=0))[seed]
                for grad in grads:
                    grad *= min(1, most / norm)
        optimizer.step()
    return {name: leaf.detach() for name, leaf in leaves.items()}


SCHEDULES = {
    "constant": {},
    "cosine": {"schedule": "cosine"},
    "prompts with means": {"means_warmup": 0.5, "prompts_with_means": True},
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
def test_adam_of_one_layer_is_torchs(model: str, arm: str, schedule: str):
    """On a fixed batch, against autograd through the literal model."""
    recipe = replace(EXACT, prompt_lr_factor=3.0, **SCHEDULES[schedule])
    moved = check_against_torch(run_of(model, 1, arm, recipe), torch.optim.Adam)
    assert moved > recipe.lr


@pytest.mark.parametrize("momentum", [None, 0.0, 0.7])
@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
def test_sgd_is_torchs(model: str, arm: str, momentum: float | None):
    """Its momentum is 0.9 where nothing is said."""
    options = () if momentum is None else (("momentum", momentum),)
    recipe = replace(SGD, lr=3e-4, prompt_lr_factor=3.0, options=options)
    theirs = partial(torch.optim.SGD, momentum=0.9 if momentum is None else momentum)
    assert check_against_torch(run_of(model, 1, arm, recipe), theirs) > 1e-6


def check_against_torch(run: Run, optimiser) -> float:
    """How far parameters went, at most."""
    recipe, state = run.recipe, scratch_state(run, range(3))
    sequences = literal.draw_sequences(MIX, N, 20, torch.Generator().manual_seed(0))
    moments = batch_moments(mixtures.gram_batch(sequences, MIX.tasks), MIX)

    def losses(params, iteration):
        seeds = ({name: leaf[i] for name, leaf in params.items()} for i in range(3))
        return torch.stack([literal_risk(seed, sequences, MIX).mean() for seed in seeds])

    expected = torchs(state, losses, recipe.iterations, optimiser)
    before = state.theta.copy()
    for iteration in range(recipe.iterations):
        state.step(iteration, moments)
    for name, wanted in expected.items():
        np.testing.assert_allclose(state.params[name], wanted, rtol=1e-7, atol=1e-8)
    return np.abs(state.theta - before).max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_step_of_sgd_is_the_same_on_torchs_arrays(dtype: torch.dtype):
    """In place, and in the precision that they have."""
    rng = np.random.default_rng(0)
    theta, velocity, grad = (torch.tensor(rng.standard_normal((2, 3))).to(dtype) for _ in range(3))
    rates = torch.tensor([[1.0, 3.0, 1.0]]).to(dtype)
    ours = [array.numpy().copy() for array in (theta, velocity, grad, rates)]
    sgd.update(theta, {"velocity": velocity}, grad, rates, 0.1, 1, momentum=0.5)
    sgd.update(ours[0], {"velocity": ours[1]}, *ours[2:], 0.1, 1, momentum=0.5)
    for one, other in zip((theta, velocity), ours, strict=False):
        assert one.numpy().dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


# Engine, initial spread, tolerance.
PRECISIONS = {"single": (TorchEngine, 0.05, 1e-4), "double": (mixtures.DoubleEngine, 0.1, 1e-9)}


@pytest.mark.parametrize("arm", ["plain", "finetune", "joint", "joint_heads"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("clip_ratio", [None, 0.01])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_adam_of_deeper_models_is_torchs(
    precision: str, clip_ratio: float | None, layers: int, arm: str
):
    """20 steps of 1e-2. In single precision entries agree to a hundredth of one step, unless a seed
    starts where the risk is steep."""
    engine_class, init_std, tolerance = PRECISIONS[precision]
    engine = engine_class(CONTEXTS)
    recipe = replace(DEEP, clip_ratio=clip_ratio, init_std=init_std)
    state = scratch_state(run_of("attention", layers, arm, recipe), range(3), engine)
    before = engine.to_numpy(state.theta).copy()

    def batch(iteration: int) -> GramBatch:
        return engine.data(Stream.TRAINING, iteration, *recipe.data_at(iteration))

    def losses(params, iteration):
        errors = engine._errors(state.model, batch(iteration), params)
        return torch.cat(list(errors), dim=1).mean(1)

    expected = torchs(state, losses, 20)
    for iteration in range(20):
        state.step(iteration, batch(iteration))
    for name, wanted in expected.items():
        torch.testing.assert_close(state.params[name], wanted, rtol=0, atol=tolerance)
    assert np.abs(engine.to_numpy(state.theta) - before).max() > recipe.lr


@pytest.mark.parametrize("kind", ["NumPy", "torch"])
def test_squares_are_forgotten_as_asked(kind: str):
    """Step t's weight in the mean of squares, written out: t^−f times what later steps keep."""
    rng, beta2_decay, steps = np.random.default_rng(0), 0.6, 7
    grads = rng.standard_normal((steps, 2, 3))
    make = np.array if kind == "NumPy" else torch.tensor
    theta, first, second = (make(np.zeros((2, 3))) for _ in range(3))
    state, rates = {"first": first, "second": second}, make(np.ones((1, 3)))
    for t in range(1, steps + 1):
        adam.update(theta, state, make(grads[t - 1]), rates, 0.01, t, beta2_decay=beta2_decay)
    shares = np.arange(1, steps + 1.0) ** -beta2_decay
    kept = np.append(np.cumprod((1 - shares)[:0:-1])[::-1], 1)
    assert (shares * kept).sum() == pytest.approx(1)
    expected = np.einsum("t,tij->ij", shares * kept, grads**2)
    np.testing.assert_allclose(np.asarray(second), expected, rtol=1e-12)
    moved = np.asarray(theta).copy()
    none = make(np.zeros((2, 3)))
    adam.update(theta, state, none, rates, 0.01, steps + 1, beta2_decay=beta2_decay)
    step = 0.01 * np.asarray(first) / (1 - adam.BETA1 ** (steps + 1)) / np.sqrt(np.asarray(second))
    np.testing.assert_allclose(np.asarray(theta) - moved, -step, rtol=1e-6)


def test_a_gradient_whose_square_overflows_is_cut_and_not_lost():
    state = scratch_state(run_of("attention", 2, "plain", DEEP), range(2))
    state.grad[:] = np.float32([[1e25], [1e-3]])
    before = state.grad.copy()
    state._clip(np.array([2.0, 2.0]))
    assert np.linalg.norm(state.grad[0].astype(float)) == pytest.approx(2, rel=1e-6)
    assert np.array_equal(state.grad[1], before[1])


def test_the_running_risk_is_that_of_the_last_batches(monkeypatch):
    """Over more of them than it remembers, the older ones count exponentially less."""
    monkeypatch.setattr("decoupling.train.state.MEMORY", 4)
    recipe = replace(DEEP, clip_ratio=1e9)
    state = scratch_state(run_of("attention", 2, "plain", recipe), range(2))
    risks = [
        state.step(i, state.engine.data(Stream.TRAINING, i, *recipe.data_at(i))) for i in range(12)
    ]
    expected = np.mean(np.log(risks[:4]), axis=0)
    for later in risks[4:]:
        expected = 0.75 * expected + 0.25 * np.log(later)
    np.testing.assert_allclose(state.log_risk, expected, rtol=1e-12)


def test_tests_together_are_those_apart():
    runs = runs_of("deep", ("plain", "joint"))
    together = train(CONTEXTS, runs, range(3))
    apart = [row for run in runs for row in train(CONTEXTS, [run], range(3))]
    assert together == apart


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_does_not_depend_on_its_block(engine: str):
    runs = runs_of(engine, ("plain", "finetune", "joint", "joint_heads"))
    block, alone = train(CONTEXTS, runs, range(50)), train(CONTEXTS, runs, [7])
    assert len(block) == 50 * len(alone) == 200
    for row in alone:
        other = by_seed(block, row["arm"])[7]
        assert other["risk"] == pytest.approx(row["risk"], rel=ENGINES[engine][2])
    risks = [row["risk"] for row in block if row["arm"] == "joint"]
    assert len(set(risks)) == 50


def test_rows_say_what_was_trained():
    rows = train(CONTEXTS, runs_of("deep", ("plain", "joint")), [3, 5])
    assert [(row["arm"], row["seed"]) for row in rows] == [
        ("plain", 3), ("plain", 5), ("joint", 3), ("joint", 5)
    ]  # fmt: skip
    for row in rows:
        assert (row["setting"], row["n"], row["model"], row["layers"]) == (
            MIX.name, N, "attention", 2
        )  # fmt: skip
        assert (row["iterations"], row["status"]) == (30, "ok")
        assert row["risk_se"] > 0
        assert row["selection_risk"] != row["risk"]  # another held-out set


def test_one_layer_risk_is_exact_and_selects_itself():
    (row,) = train(CONTEXTS, runs_of("minibatch", ("joint",)), [0])
    assert row["risk_se"] == 0
    assert row["selection_risk"] == row["risk"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("iterations", [0, 30])
def test_fine_tuning_starts_from_the_seeds_own_frozen_plain(engine: str, iterations: int):
    """A prompt of 0 adds nothing and has gradient 0: fine-tuning it leaves plain's risk."""
    plain = runs_of(engine, ("plain",))[0]
    zero = replace(plain.recipe, init_std=0.0, iterations=iterations)
    curve = replace(plain.curve, arm="finetune", trains=ARMS["finetune"].trains)
    rows = train(CONTEXTS, [replace(plain, curve=curve, recipe=zero), plain], range(4))
    tuned, trained = by_seed(rows, "finetune"), by_seed(rows, "plain")
    assert {seed: row["risk"] for seed, row in tuned.items()} == pytest.approx(
        {seed: row["risk"] for seed, row in trained.items()}, rel=1e-6
    )
    assert len({row["risk"] for row in trained.values()}) == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_fine_tuning_lowers_the_risk(engine: str):
    recipe = replace(ENGINES[engine][0], iterations=200, test_contexts=5000)
    runs = [replace(run, recipe=recipe) for run in runs_of(engine, ("plain", "finetune"))]
    rows = train(CONTEXTS, runs, range(4))
    tuned, plain = by_seed(rows, "finetune"), by_seed(rows, "plain")
    assert all(tuned[seed]["risk"] < plain[seed]["risk"] for seed in range(4))


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_plain_is_trained_but_not_reported(engine: str):
    tuned = ("finetune", "finetune_heads", "finetune_only_heads")
    (plain,) = runs_of(engine, ("plain",))
    alone = train(CONTEXTS, [replace(plain, reported=False), *runs_of(engine, tuned)], range(3))
    together = train(CONTEXTS, runs_of(engine, ("plain", *tuned)), range(3))
    assert {row["arm"] for row in alone} == set(tuned)
    assert alone == [row for row in together if row["arm"] != "plain"]


def test_depths_are_fine_tuned_on_their_own_plain():
    """In one call or in several."""
    runs = {
        layers: [run_of("attention", layers, arm, DEEP) for arm in ("plain", "finetune")]
        for layers in (2, 3)
    }
    alone = [row for layers in runs for row in train(CONTEXTS, runs[layers], range(2))]
    assert train(CONTEXTS, runs[2] + runs[3], range(2)) == alone


def test_one_layer_and_deeper_runs_in_the_order_of_asking():
    deep, exact = runs_of("deep", ("plain",)), runs_of("exact", ("joint",))
    rows = train(CONTEXTS, deep + exact, [0])
    assert rows == train(CONTEXTS, deep, [0]) + train(CONTEXTS, exact, [0])


def poison(monkeypatch) -> None:
    """Seed 2 starts with a weight that is not a number."""
    initial = Model.initial_values

    def poisoned(*args) -> dict[str, np.ndarray]:
        values = initial(*args)
        if "query" in values:
            values["query"][2].flat[0] = math.nan
        return values

    monkeypatch.setattr(Model, "initial_values", poisoned)


@pytest.mark.parametrize("arm", ["plain", "joint", "joint_heads"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_diverged_seed_is_recorded_and_alone(engine: str, arm: str, monkeypatch, caplog):
    runs = runs_of(engine, (arm,))
    healthy = by_seed(train(CONTEXTS, runs, range(4)), arm)
    poison(monkeypatch)
    with caplog.at_level(logging.WARNING):
        rows = by_seed(train(CONTEXTS, runs, range(4)), arm)
    assert rows[2]["status"] == "diverged"
    assert "seeds [2] diverged" in caplog.text
    for seed in (0, 1, 3):
        assert rows[seed]["status"] == "ok"
        assert rows[seed]["risk"] == pytest.approx(healthy[seed]["risk"], rel=1e-6)


def test_fine_tuning_a_diverged_plain_is_diverged(monkeypatch):
    monkeypatch.setattr(loop, "CHECK_EVERY", 10)
    absurd = replace(runs_of("exact", ("plain",))[0], recipe=replace(EXACT, lr=1e80))
    rows = train(CONTEXTS, [absurd, *runs_of("exact", ("finetune",))], range(2))
    assert [row["status"] for row in rows] == ["diverged"] * 4
    assert [row["iterations"] for row in rows] == [10] * 4


HALVED = replace(DEEP, iterations=40, halve_at=(0.25, 0.5), halving_group=4)


def halved_runs(*arms: str) -> list[Run]:
    return [run_of("attention", 2, arm, HALVED) for arm in arms]


@pytest.mark.parametrize("warmup", [0.0, 0.8])
def test_the_worse_half_stops(warmup: float):
    """By the geometric mean of the risks so far, with the means as they were."""
    recipe = replace(HALVED, means_warmup=warmup)
    run = run_of("attention", 2, "joint", recipe)
    rows = by_seed(train(CONTEXTS, [run], range(8)), "joint")
    free = scratch_state(replace(run, recipe=replace(recipe, halve_at=())), range(8))
    alive = {group: [4 * group + i for i in range(4)] for group in range(2)}
    seen = []
    for iteration in range(20):
        batch = CONTEXTS.batch(
            Stream.TRAINING, iteration, recipe.batch_size, recipe.mean_scale_at(iteration)
        )
        errors = free.engine.errors(free.model, free.params, batch)
        seen.append(errors.mean(1, dtype=float) + MIX.noise_var)
        free.step(iteration, batch)
        if iteration + 1 in (10, 20):
            risks = np.prod(seen, axis=0) ** (1 / len(seen))
            for group, seeds in alive.items():
                order = sorted(seeds, key=lambda seed: risks[seed])
                for seed in order[len(order) // 2 :]:
                    assert (rows[seed]["status"], rows[seed]["iterations"]) == (
                        "stopped",
                        iteration + 1,
                    )
                    assert math.isnan(rows[seed]["risk"])
                alive[group] = order[: len(order) // 2]
    for seeds in alive.values():
        assert [(rows[s]["status"], rows[s]["iterations"]) for s in seeds] == [("ok", 40)]


def test_the_last_seed_is_trained_as_without_halving():
    run = run_of("attention", 2, "joint", HALVED)
    halved = by_seed(train(CONTEXTS, [run], range(4)), "joint")
    free = by_seed(
        train(CONTEXTS, [replace(run, recipe=replace(HALVED, halve_at=()))], range(4)), "joint"
    )
    (winner,) = (seed for seed, row in halved.items() if row["status"] == "ok")
    # sums over arrays of another shape
    assert halved[winner]["risk"] == pytest.approx(free[winner]["risk"], rel=1e-12)


def test_groups_are_halved_by_seed_number_whatever_the_job():
    runs = halved_runs("plain", "finetune", "joint")
    together = train(CONTEXTS, runs, range(8))
    apart = train(CONTEXTS, runs, range(4)) + train(CONTEXTS, runs, range(4, 8))

    def sort(rows: list[dict]) -> list[dict]:
        return sorted(rows, key=lambda row: (row["arm"], row["seed"]))

    frames = (pd.DataFrame(sort(rows)) for rows in (together, apart))
    pd.testing.assert_frame_equal(*frames, rtol=1e-12)  # sums over arrays of another shape


def test_fine_tuning_only_of_finished_plain_seeds():
    tuned = replace(run_of("attention", 2, "finetune", HALVED), recipe=replace(HALVED, halve_at=()))
    rows = train(CONTEXTS, [*halved_runs("plain"), tuned], range(8))
    finished = {s for s, row in by_seed(rows, "plain").items() if row["status"] == "ok"}
    assert len(finished) == 2
    for seed, row in by_seed(rows, "finetune").items():
        expected = ("ok", 40) if seed in finished else ("stopped", 0)
        assert (row["status"], row["iterations"]) == expected


def test_fine_tuning_of_all_seeds_of_a_plain_that_is_not_halved():
    plain, tuned, joint = halved_runs("plain", "finetune", "joint")
    plain = replace(plain, recipe=replace(HALVED, halve_at=()))
    rows = train(CONTEXTS, [plain, tuned, joint], range(8))
    finished = {
        arm: sum(row["status"] == "ok" for row in by_seed(rows, arm).values())
        for arm in ("plain", "finetune", "joint")
    }
    assert finished == {"plain": 8, "finetune": 8, "joint": 2}


def test_fine_tuning_is_not_halved_again():
    rows = train(CONTEXTS, halved_runs("plain", "finetune"), range(8))
    found = {seed for seed, row in by_seed(rows, "finetune").items() if row["status"] == "ok"}
    assert found == {s for s, row in by_seed(rows, "plain").items() if row["status"] == "ok"}


def test_a_diverged_seed_is_stopped_and_called_diverged(monkeypatch):
    poison(monkeypatch)
    found = train(CONTEXTS, halved_runs("plain", "finetune"), range(4))
    rows, tuned = by_seed(found, "plain"), by_seed(found, "finetune")
    assert (rows[2]["status"], rows[2]["iterations"]) == ("diverged", 10)
    assert (tuned[2]["status"], tuned[2]["iterations"]) == ("diverged", 0)
    counts = [row["status"] for row in rows.values()]
    assert (counts.count("ok"), counts.count("stopped")) == (1, 2)


def test_a_seed_that_its_last_step_ruined_is_stopped(monkeypatch):
    """It was the best so far, and what is left of it is not a number."""
    run = run_of("attention", 2, "joint", HALVED)
    state = scratch_state(run, range(4))
    state.log_risk[:] = [0.0, 1.0, 2.0, 3.0]
    state.theta[0, 5] = np.nan
    state.halve(10)
    assert list(state.running) == [1, 2]
    assert state.diverged_at[0] == 10


@pytest.mark.parametrize("stop_at", [15, 25, 38, 55])
def test_interrupted_halving_goes_on_to_identical_rows(stop_at: int, monkeypatch, tmp_path):
    """Gradients are cut by the running risk, so that it must be restored too."""
    cut = replace(HALVED, clip_ratio=0.01)
    runs = [run_of("attention", 2, arm, cut) for arm in ("plain", "finetune")]
    check_resumed(runs, range(8), stop_at, monkeypatch, tmp_path)


@pytest.mark.parametrize("engine", ENGINES)
def test_parameters_of_the_best_seed_are_kept(engine: str):
    """They have the risk that was reported; fine-tuning's have the frozen weights, too."""
    arms = ("plain", "finetune", "joint_heads")
    runs = runs_of(engine, arms)
    trained = loop.train(CONTEXTS, runs, range(3))
    loaded = engines.load(runs[0].curve.model_class.engine)(CONTEXTS)
    for run in runs:
        rows = by_seed(trained.rows, run.curve.arm)
        best = min(rows, key=lambda seed: rows[seed]["selection_risk"])
        kept = [row for row in trained.parameters if row["arm"] == run.curve.arm]
        assert {row["seed"] for row in kept} == {best}
        params = {
            row["name"]: loaded.from_numpy(np.reshape(row["values"], (1, *row["shape"])))
            for row in kept
        }
        model = run.curve.build(MIX.dim, MIX.tasks)
        assert set(params) == {*model.weight_shapes, *model.trained_shapes(run.curve.trains)}
        (test,) = loaded.test([(model, params)], run.recipe.test_contexts)
        assert test.risk[0] == pytest.approx(rows[best]["risk"], rel=1e-6)


def test_batches_grow_evenly_in_proportion():
    recipe = Recipe(batch_size=512, iterations=1000, batch_growth=8.0)
    sizes = [recipe.batch_at(i) for i in range(1000)]
    assert (sizes[0], recipe.batch_at(1000)) == (512, 4096)
    assert sizes[500] == pytest.approx(512 * 8**0.5, abs=32)
    assert sizes == sorted(sizes)
    assert {size % 64 for size in sizes} == {0}
    assert replace(recipe, batch_growth=1.0).batch_at(500) == 512


class InterruptError(Exception):
    pass


def count_steps(monkeypatch, stop_at: int | None = None) -> list[str]:
    """Record every step's run; raise instead of step number `stop_at`."""
    step, taken = TrainState.step, []

    def counted(state: TrainState, *args):
        if stop_at is not None and len(taken) >= stop_at:
            raise InterruptError
        taken.append(state.run.key)
        return step(state, *args)

    monkeypatch.setattr(TrainState, "step", counted)
    return taken


def check_resumed(runs: list[Run], seeds: range, stop_at: int, monkeypatch, folder) -> list[str]:
    """Interrupt at a step and resume: the rows are the same. The runs of the resumed steps."""
    expected = train(CONTEXTS, runs, seeds)
    checkpoint = partial(Checkpoint, folder / "job.checkpoint", "stamp", every_seconds=0)
    with monkeypatch.context() as patch:
        count_steps(patch, stop_at)
        with pytest.raises(InterruptError):
            train(CONTEXTS, runs, seeds, checkpoint=checkpoint())
    taken = count_steps(monkeypatch)
    again = train(CONTEXTS, runs, seeds, checkpoint=checkpoint())
    assert [repr(row) for row in again] == [repr(row) for row in expected]  # NaN is not itself
    return taken


@pytest.mark.parametrize("stop_at", [13, 47, 70, 85])
@pytest.mark.parametrize("engine", ENGINES)
def test_interrupted_training_goes_on_to_identical_rows(engine, stop_at, monkeypatch, tmp_path):
    """30 iterations of two arms from scratch, then 30 of fine-tuning: 90 steps in two stages.

    Saved at every iteration, a resumed run repeats at most the one that was interrupted.
    """
    runs = runs_of(engine, ("plain", "finetune", "joint"))
    taken = check_resumed(runs, range(3), stop_at, monkeypatch, tmp_path)
    assert 90 - stop_at <= len(taken) <= 90 - stop_at + 1


def test_interrupted_in_the_second_engine_the_first_is_not_trained_again(monkeypatch, tmp_path):
    """60 steps of one layer, then 30 of two."""
    runs = runs_of("exact", ("plain", "finetune")) + runs_of("deep", ("plain",))
    taken = check_resumed(runs, range(2), 77, monkeypatch, tmp_path)
    assert taken == ["attention/2/plain"] * 13


def test_divergence_survives_a_checkpoint(tmp_path):
    state = scratch_state(run_of("attention", 1, "plain", EXACT), range(3))
    state.note_divergence(20, np.array([1.0, math.nan, 2.0]))
    saved = Checkpoint(tmp_path / "c", "stamp", 60)
    saved.save({}, state.arrays())
    other = scratch_state(run_of("attention", 1, "plain", EXACT), range(3))
    other.restore(saved.load()[1])
    assert other.diverged_at.tolist() == [-1, 20, -1]


def written(path, stamp: str) -> bytes:
    progress = {"stage": "?", "iteration": 1, "finished": []}
    Checkpoint(path, stamp, 60).save(progress, {"theta": np.arange(9.0)})
    return path.read_bytes()


def saved_by(writer, *args, **arrays) -> bytes:
    """What one of NumPy's writers makes of it."""
    file = io.BytesIO()
    writer(file, *args, **arrays)
    return file.getvalue()


DAMAGE = {
    "empty": lambda whole: b"",
    "a text": lambda whole: b"not a checkpoint\n",
    "truncated": lambda whole: whole[: len(whole) // 2],
    "zeros": lambda whole: bytes(len(whole)),
    "one letter": lambda whole: b"a",
    "a word": lambda whole: b"junk",
    "a table": lambda whole: b"risk,se\n1,2\n",
    "not text": lambda whole: b"X\x01\x00\x00\x00\xff.",
    "a flipped byte": lambda whole: whole[:300] + bytes([whole[300] ^ 1]) + whole[301:],
    "a pickle": lambda whole: pickle.dumps({"stamp": "stamp", "progress": {}}),
    "one array": lambda whole: saved_by(np.save, np.arange(3)),
    "arrays without the text": lambda whole: saved_by(np.savez, theta=np.arange(3)),
    "another text": lambda whole: saved_by(np.savez, text=np.array("stamp")),
    "text of something else": lambda whole: saved_by(np.savez, text=np.array('{"stage": 1}')),
    "text that is a number": lambda whole: saved_by(np.savez, text=np.arange(3)),
    "objects": lambda whole: saved_by(np.savez, text=np.array({"stamp": "stamp"}, dtype=object)),
}


@pytest.mark.parametrize("damage", [*DAMAGE, "foreign"])
def test_useless_checkpoint_is_ignored_with_a_warning(damage: str, tmp_path, caplog):
    path, foreign = tmp_path / "job.checkpoint", damage == "foreign"
    whole = written(path, "another stamp" if foreign else "stamp")
    path.write_bytes(whole if foreign else DAMAGE[damage](whole))
    runs = runs_of("exact", ("plain",))
    rows = train(CONTEXTS, runs, [0], checkpoint=Checkpoint(path, "stamp", 60))
    assert rows == train(CONTEXTS, runs, [0])
    assert f"{path}: {'of another' if foreign else 'not readable'}" in caplog.text


def test_checkpoint_file(tmp_path):
    """Nothing before the first save, nothing but the file after it, nothing once deleted."""
    checkpoint = Checkpoint(tmp_path / "c", "stamp", 60)
    assert checkpoint.load() is None
    assert not checkpoint.due
    checkpoint.save({"iteration": 3}, {"scratch/0/theta": np.array([1.5, math.nan])})
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    progress, arrays = checkpoint.load()
    assert progress == {"iteration": 3}
    assert list(arrays) == ["scratch/0/theta"]
    np.testing.assert_array_equal(arrays["scratch/0/theta"], [1.5, math.nan])
    killed = atomic_path(tmp_path / "c")
    killed.__enter__()  # as a job killed while saving
    checkpoint.delete()
    checkpoint.delete()
    assert not list(tmp_path.iterdir())


def test_learning_rate_schedules():
    constant = Recipe(lr=0.5, iterations=100)
    cosine = replace(constant, schedule="cosine")
    assert [constant.lr_at(i) for i in (0, 50, 100)] == [0.5, 0.5, 0.5]
    assert [cosine.lr_at(i) for i in (0, 50, 100)] == pytest.approx([0.5, 0.25, 0], abs=1e-15)
    rates = [cosine.lr_at(i) for i in range(101)]
    assert rates == sorted(rates, reverse=True)


def test_mean_scale():
    assert {Recipe().mean_scale_at(i) for i in (0, 10, 20_000)} == {1.0}
    recipe = Recipe(iterations=1000, means_warmup=0.5)
    scales = [recipe.mean_scale_at(i) for i in range(1000)]
    assert scales == sorted(scales)
    assert (scales[0], scales[500], scales[-1]) == (0, 1, 1)
    linear = np.minimum(np.arange(1000) / 500, 1)
    gap = linear - scales
    assert gap.min() > -1e-12
    assert gap.max() < 1 / WARMUP_STEPS + 1e-12


@pytest.mark.parametrize("engine", ENGINES)
def test_warmup_ends_at_the_mixtures_own_means(engine: str):
    """All of the data is that of the scaled mixture while they grow, and of the mixture after."""
    (run,) = runs_of(engine, ("plain",))
    data = partial(scratch_state(run, range(1)).engine.data, Stream.TRAINING)
    growing = replace(run.recipe, means_warmup=0.5)
    late, early = (data(i, *growing.data_at(i)) for i in (20, 3))
    assert late is data(20, *run.recipe.data_at(20))
    assert early is not data(3, *run.recipe.data_at(3))


def test_only_the_first_seeds_of_a_run_are_trained():
    limited = replace(runs_of("exact", ("plain",))[0], seeds=3)
    rows = train(CONTEXTS, [limited, *runs_of("exact", ("joint",))], range(1, 5))
    assert list(by_seed(rows, "plain")) == [1, 2]
    assert list(by_seed(rows, "joint")) == [1, 2, 3, 4]
