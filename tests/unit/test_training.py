"""Training: Adam, seeds, stages, divergence, checkpoints, schedules."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling import deep, training
from decoupling.checkpoint import Checkpoint
from decoupling.moments import batch_moments
from decoupling.recipes import CONTINUATION_STAGES, Recipe, Task
from decoupling.results import atomic_path
from decoupling.sampling import GramSampler
from decoupling.tracks import Track
from decoupling.training import train
from mixtures import MODEL_ARMS, literal_risk

MIX = mixtures.random_mixture(np.random.default_rng(11), 3, 2, 0.5)
N = 6
EXACT = Recipe(iterations=30, lr=1e-2)
BATCH = replace(EXACT, gradient=256)
DEEP = replace(EXACT, gradient=128, test_contexts=500)
# name: recipe, layers and the relative precision of the arithmetic over a short training
ENGINES = {"exact": (EXACT, 1, 1e-9), "minibatch": (BATCH, 1, 1e-9), "deep": (DEEP, 2, 1e-4)}


def tasks_of(engine: str, arms: tuple[str, ...]) -> list[Task]:
    recipe, layers, _ = ENGINES[engine]
    return [Task("attention", layers, arm, recipe) for arm in arms]


def by_seed(rows: list[dict], arm: str) -> dict[int, dict]:
    return {row["seed"]: row for row in rows if row["arm"] == arm}


def scratch_track(task: Task, seeds: range) -> Track:
    """With the plain weights of its own initialisation where the arm needs frozen ones."""
    if task.arm in ("plain", "joint", "joint_heads", "heads"):
        return Track(task, MIX, seeds, {}, "cpu")
    plain = Track(replace(task, arm="plain"), MIX, seeds, {}, "cpu")
    return Track(task, MIX, seeds, plain.params, "cpu")


def adam_reference(track: Track, losses, steps: int) -> dict[str, torch.Tensor]:
    """torch.optim.Adam on autograd's gradient, from the track's parameters."""
    recipe = track.task.recipe
    start = {name: torch.as_tensor(array).detach() for name, array in track.params.items()}
    leaves = {name: start[name].clone().requires_grad_() for name in track.shapes}
    factors = [recipe.prompt_lr_factor if name == "prompts" else 1 for name in leaves]
    groups = [{"params": [leaf]} for leaf in leaves.values()]
    optimizer = torch.optim.Adam(groups, lr=recipe.lr)
    for iteration in range(steps):
        for group, factor in zip(optimizer.param_groups, factors, strict=True):
            group["lr"] = factor * recipe.lr_at(iteration)
        optimizer.zero_grad()
        losses({**start, **leaves}, iteration).sum().backward()
        for seed in range(len(track.seeds)):
            grads = [leaf.grad[seed] for leaf in leaves.values()]
            norm = torch.cat([grad.flatten() for grad in grads]).norm()
            if recipe.clip_norm is not None and norm > recipe.clip_norm:
                for grad in grads:
                    grad *= recipe.clip_norm / norm
        optimizer.step()
    return {name: leaf.detach() for name, leaf in leaves.items()}


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
@pytest.mark.parametrize(("model", "arm"), MODEL_ARMS)
def test_adam_of_one_layer_is_torchs(model: str, arm: str, schedule: str):
    """On a fixed batch, against autograd through the literal model."""
    recipe = replace(EXACT, schedule=schedule, prompt_lr_factor=3.0)
    track = scratch_track(Task(model, 1, arm, recipe), range(3))
    sequences = literal.draw_sequences(MIX, N, 20, torch.Generator().manual_seed(0))
    moments = batch_moments(mixtures.gram_batch(sequences, MIX.tasks), MIX)

    def losses(params, iteration):
        seeds = ({name: leaf[i] for name, leaf in params.items()} for i in range(3))
        return torch.stack([literal_risk(seed, sequences, MIX).mean() for seed in seeds])

    expected = adam_reference(track, losses, recipe.iterations)
    before = track.theta.clone()
    for iteration in range(recipe.iterations):
        track.step(iteration, moments)
    for name, wanted in expected.items():
        np.testing.assert_allclose(track.params[name], wanted, rtol=1e-7, atol=1e-8)
    assert (track.theta - before).abs().max() > recipe.lr


@pytest.mark.parametrize("arm", ["plain", "finetune", "joint", "joint_heads"])
@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("clip_norm", [None, 0.1])
def test_adam_of_deeper_models_is_torchs(clip_norm: float | None, layers: int, arm: str):
    """Single precision, 20 steps of 1e-2: entries agree to a hundredth of one step."""
    recipe = replace(DEEP, clip_norm=clip_norm)
    track = scratch_track(Task("attention", layers, arm, recipe), range(3))
    sampler = GramSampler(MIX, N, "test")
    sigma_x = torch.tensor(MIX.sigma_x, dtype=torch.float32)

    def losses(params, iteration):
        errors = deep._context_errors(sampler.batch(iteration, 128), params, sigma_x)
        return torch.cat(list(errors), dim=1).mean(1)

    expected = adam_reference(track, losses, 20)
    for iteration in range(20):
        track.step(iteration, sampler.batch(iteration, 128))
    for name, wanted in expected.items():
        torch.testing.assert_close(track.params[name].detach(), wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_does_not_depend_on_its_block(engine: str):
    tasks = tasks_of(engine, ("plain", "finetune", "joint", "joint_heads"))
    block, alone = train(MIX, N, tasks, range(50)), train(MIX, N, tasks, [7])
    assert len(block) == 50 * len(alone) == 200
    for row in alone:
        other = by_seed(block, row["arm"])[7]
        assert other["risk"] == pytest.approx(row["risk"], rel=ENGINES[engine][2])
    risks = [row["risk"] for row in block if row["arm"] == "joint"]
    assert len(set(risks)) == 50


def test_rows_say_what_was_trained():
    rows = train(MIX, N, tasks_of("deep", ("plain", "joint")), [3, 5])
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
    (row,) = train(MIX, N, tasks_of("minibatch", ("joint",)), [0])
    assert row["risk_se"] == 0
    assert row["selection_risk"] == row["risk"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("iterations", [0, 30])
def test_fine_tuning_starts_from_the_seeds_own_frozen_plain(engine: str, iterations: int):
    """A prompt of 0 adds nothing and has gradient 0: fine-tuning it leaves plain's risk."""
    plain = tasks_of(engine, ("plain",))[0]
    zero = replace(plain.recipe, init_std=0.0, iterations=iterations)
    rows = train(MIX, N, [replace(plain, arm="finetune", recipe=zero), plain], range(4))
    tuned, trained = by_seed(rows, "finetune"), by_seed(rows, "plain")
    assert {seed: row["risk"] for seed, row in tuned.items()} == pytest.approx(
        {seed: row["risk"] for seed, row in trained.items()}, rel=1e-6
    )
    assert len({row["risk"] for row in trained.values()}) == 4


@pytest.mark.parametrize("engine", ENGINES)
def test_fine_tuning_lowers_the_risk(engine: str):
    recipe = replace(ENGINES[engine][0], iterations=200, test_contexts=5000)
    tasks = [replace(t, recipe=recipe) for t in tasks_of(engine, ("plain", "finetune"))]
    rows = train(MIX, N, tasks, range(4))
    tuned, plain = by_seed(rows, "finetune"), by_seed(rows, "plain")
    assert all(tuned[seed]["risk"] < plain[seed]["risk"] for seed in range(4))


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_plain_is_trained_but_not_reported(engine: str):
    tuned = ("finetune", "finetune_heads", "finetune_only_heads")
    alone = train(MIX, N, tasks_of(engine, tuned), range(3))
    together = train(MIX, N, tasks_of(engine, ("plain", *tuned)), range(3))
    assert {row["arm"] for row in alone} == set(tuned)
    assert alone == [row for row in together if row["arm"] != "plain"]


@pytest.mark.parametrize("arm", ["plain", "joint", "joint_heads"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_diverged_seed_is_recorded_and_alone(engine: str, arm: str, monkeypatch, caplog):
    tasks = tasks_of(engine, (arm,))
    healthy = by_seed(train(MIX, N, tasks, range(4)), arm)
    initial = Track._initial_theta

    def poisoned(track: Track) -> np.ndarray:
        theta = initial(track)
        theta[2, 0] = math.nan
        return theta

    monkeypatch.setattr(Track, "_initial_theta", poisoned)
    with caplog.at_level(logging.WARNING):
        rows = by_seed(train(MIX, N, tasks, range(4)), arm)
    assert rows[2]["status"] == "diverged"
    assert "seeds [2] diverged" in caplog.text
    for seed in (0, 1, 3):
        assert rows[seed]["status"] == "ok"
        assert rows[seed]["risk"] == pytest.approx(healthy[seed]["risk"], rel=1e-6)


def test_fine_tuning_a_diverged_plain_is_diverged(monkeypatch):
    monkeypatch.setattr(training, "CHECK_EVERY", 10)
    absurd = [replace(t, recipe=replace(EXACT, lr=1e80)) for t in tasks_of("exact", ("plain",))]
    rows = train(MIX, N, [*absurd, *tasks_of("exact", ("finetune",))], range(2))
    assert [row["status"] for row in rows] == ["diverged"] * 4
    assert [row["iterations"] for row in rows] == [10] * 4


class InterruptError(Exception):
    pass


def count_steps(monkeypatch, stop_at: int | None = None) -> list[str]:
    """Record every step's task; raise instead of step number `stop_at`."""
    step, taken = Track.step, []

    def counted(track: Track, *args):
        if stop_at is not None and len(taken) >= stop_at:
            raise InterruptError
        taken.append(track.task.key)
        return step(track, *args)

    monkeypatch.setattr(Track, "step", counted)
    return taken


@pytest.mark.parametrize("stop_at", [13, 47, 70, 85])
@pytest.mark.parametrize("engine", ENGINES)
def test_interrupted_training_goes_on_to_identical_rows(engine, stop_at, monkeypatch, tmp_path):
    """30 iterations of two arms from scratch, then 30 of fine-tuning: 90 steps in two stages.

    Saved every 5 iterations, a resumed run repeats fewer than 5 of them.
    """
    tasks = tasks_of(engine, ("plain", "finetune", "joint"))
    expected = train(MIX, N, tasks, range(3))
    monkeypatch.setattr(training, "CHECK_EVERY", 5)

    def checkpoint() -> Checkpoint:
        return Checkpoint(tmp_path / "job.checkpoint", "stamp", every_seconds=0)

    with monkeypatch.context() as patch:
        count_steps(patch, stop_at)
        with pytest.raises(InterruptError):
            train(MIX, N, tasks, range(3), checkpoint=checkpoint())
    taken = count_steps(monkeypatch)
    assert train(MIX, N, tasks, range(3), checkpoint=checkpoint()) == expected
    assert 90 - stop_at <= len(taken) < 90 - stop_at + 10


def test_divergence_survives_a_checkpoint(tmp_path):
    track = scratch_track(Task("attention", 1, "plain", EXACT), range(3))
    track.note_divergence(20, torch.tensor([1.0, math.nan, 2.0]))
    saved = Checkpoint(tmp_path / "c", "stamp", 60)
    saved.save({"track": track.state()})
    other = scratch_track(Task("attention", 1, "plain", EXACT), range(3))
    other.restore(saved.load()["track"])
    assert other.diverged_at.tolist() == [-1, 20, -1]


def written(path, stamp: str = "stamp") -> bytes:
    Checkpoint(path, stamp, 60).save({"stage": "?", "iteration": 1, "tracks": [], "finished": {}})
    return path.read_bytes()


DAMAGE = {
    "empty": lambda whole: b"",
    "a text": lambda whole: b"not a checkpoint\n",
    "truncated": lambda whole: whole[: len(whole) // 2],
    "zeros": lambda whole: bytes(len(whole)),
    "one letter": lambda whole: b"a",
    "a word": lambda whole: b"junk",
    "a table": lambda whole: b"risk,se\n1,2\n",
    "not text": lambda whole: b"X\x01\x00\x00\x00\xff.",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_unreadable_checkpoint_is_ignored_with_a_warning(damage: str, tmp_path, caplog):
    path = tmp_path / "job.checkpoint"
    path.write_bytes(DAMAGE[damage](written(path)))
    tasks = tasks_of("exact", ("plain",))
    rows = train(MIX, N, tasks, [0], checkpoint=Checkpoint(path, "stamp", 60))
    assert rows == train(MIX, N, tasks, [0])
    assert f"{path}: not readable" in caplog.text


def test_foreign_checkpoint_is_ignored_with_a_warning(tmp_path, caplog):
    path = tmp_path / "job.checkpoint"
    written(path, "another stamp")
    tasks = tasks_of("exact", ("plain",))
    rows = train(MIX, N, tasks, [0], checkpoint=Checkpoint(path, "stamp", 60))
    assert rows == train(MIX, N, tasks, [0])
    assert f"{path}: of another" in caplog.text


def test_checkpoint_file(tmp_path):
    """Nothing before the first save, nothing but the file after it, nothing once deleted."""
    checkpoint = Checkpoint(tmp_path / "c", "stamp", 60)
    assert checkpoint.load() is None
    assert not checkpoint.due
    checkpoint.save({"iteration": 3})
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    assert checkpoint.load() == {"iteration": 3}
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
    assert gap.max() < 1 / CONTINUATION_STAGES + 1e-12


@pytest.mark.parametrize("engine", ENGINES)
def test_warmup_ends_at_the_mixtures_own_means(engine: str):
    """All of the data is that of the scaled mixture while they grow, and of the mixture after."""
    recipe, layers, _ = ENGINES[engine]
    task = Task("attention", layers, "plain", replace(recipe, means_warmup=0.5))
    stream = training._DataStream(MIX, N, "stage", "cpu")
    plain = Task("attention", layers, "plain", recipe)
    late, early = stream.at(20, task), stream.at(3, task)
    assert late is stream.at(20, plain)
    assert early is not stream.at(3, plain)


def test_only_the_first_seeds_of_a_task_are_trained():
    limited = replace(tasks_of("exact", ("plain",))[0], seeds=3)
    rows = train(MIX, N, [limited, *tasks_of("exact", ("joint",))], range(1, 5))
    assert list(by_seed(rows, "plain")) == [1, 2]
    assert list(by_seed(rows, "joint")) == [1, 2, 3, 4]
