"""Training: Adam over a block of seeds at once, stage by stage of the paper's protocol.

Arms that train the attention weights start from random initialisations; then the fine-tuned
arms start from the same seed's finished `plain` weights. All arms of one depth step through the
same data together.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from . import deep
from .checkpoint import Checkpoint
from .moments import Moments, batch_moments, population_moments
from .recipes import ARMS, Task
from .risk import risk
from .sampling import GramBatch, GramSampler
from .spec import TaskMixture
from .tracks import Track

log = logging.getLogger(__name__)

CHECK_EVERY = 100  # iterations between looks at divergence, progress and the checkpoint
HEARTBEAT_SECONDS = 10


def train(
    mix: TaskMixture,
    n: int,
    tasks: Sequence[Task],
    seeds: Sequence[int],
    *,
    checkpoint: Checkpoint | None = None,
    device: str = "cpu",
) -> list[dict[str, Any]]:
    """Train every task for a block of seeds; a row per (task, seed) with its test risk."""
    job = _Job(mix, n, seeds, device, checkpoint)
    rows = []
    for layers in sorted({task.layers for task in tasks}):
        wanted = [task for task in tasks if task.layers == layers]
        scratch = [task for task in wanted if ARMS[task.arm].weights]
        tuned = [task for task in wanted if not ARMS[task.arm].weights]
        scratch += _missing_plain(scratch, tuned)
        tracks = job.run_stage(f"L={layers} from scratch", [job.track(task) for task in scratch])
        frozen = {t.task.model: t.params for t in tracks if t.task.arm == "plain"}
        tracks += job.run_stage(
            f"L={layers} fine-tuning", [job.track(task, frozen[task.model]) for task in tuned]
        )
        by_key = {track.task.key: track for track in tracks}
        for task in wanted:
            rows += job.rows(by_key[task.key])
    return rows


def _missing_plain(scratch: Sequence[Task], tuned: Sequence[Task]) -> list[Task]:
    """`plain` for the models that are fine-tuned but whose `plain` nobody asked for."""
    have = {task.model for task in scratch if task.arm == "plain"}
    first = {task.model: task for task in reversed(tuned) if task.model not in have}
    return [replace(task, arm="plain") for task in first.values()]


class _Job:
    """One block of seeds at one (setting, n): its stages and its checkpoint."""

    def __init__(
        self,
        mix: TaskMixture,
        n: int,
        seeds: Sequence[int],
        device: str,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.mix, self.n, self.seeds, self.device = mix, n, seeds, device
        self.checkpoint = checkpoint
        self.saved = checkpoint.load() if checkpoint else None
        self.finished: dict[str, list] = dict(self.saved["finished"]) if self.saved else {}

    def track(self, task: Task, frozen: Mapping[str, Any] | None = None) -> Track:
        seeds = [s for s in self.seeds if task.seeds is None or s < task.seeds]
        return Track(task, self.mix, seeds, frozen or {}, self.device)

    def run_stage(self, name: str, tracks: list[Track]) -> list[Track]:
        """Train the tracks together, from where the checkpoint left them."""
        if not tracks or self._restored(tracks, self.finished.get(name)):
            return tracks
        first = 0
        if self.saved and self.saved["stage"] == name:
            self._restored(tracks, self.saved["tracks"])
            first = self.saved["iteration"]
            log.info("%s: going on from iteration %d", name, first)
        iterations = max(track.task.recipe.iterations for track in tracks)
        data = _DataStream(self.mix, self.n, name, self.device)
        progress = _Progress(f"{self.mix.name} n={self.n} {name}", first, iterations)
        for iteration in range(first, iterations):
            active = [t for t in tracks if iteration < t.task.recipe.iterations]
            values = [track.step(iteration, data.at(iteration, track.task)) for track in active]
            done = iteration + 1
            if done % CHECK_EVERY == 0 or done == iterations:
                for track, value in zip(active, values, strict=True):
                    track.note_divergence(done, value)
                progress.show(done, active, values)
                self._save_if_due(name, done, tracks)
        self.finished[name] = [track.state() for track in tracks]
        return tracks

    @staticmethod
    def _restored(tracks: Sequence[Track], states: Sequence[Mapping[str, Any]] | None) -> bool:
        if states is None:
            return False
        for track, state in zip(tracks, states, strict=True):
            track.restore(state)
        return True

    def _save_if_due(self, name: str, iteration: int, tracks: Sequence[Track]) -> None:
        if self.checkpoint and self.checkpoint.due:
            self.checkpoint.save(
                {
                    "stage": name,
                    "iteration": iteration,
                    "tracks": [track.state() for track in tracks],
                    "finished": self.finished,
                }
            )

    def rows(self, track: Track) -> list[dict[str, Any]]:
        """Test risks. One layer: exact, so the best seed is chosen by the reported risk itself.
        Deeper: estimated on held-out contexts, the best seed being chosen on a set of its own,
        because a minimum over noisy estimates is biased low."""
        task = track.task
        if task.layers == 1:
            moments = population_moments(self.mix, self.n)
            report = selection = risk(moments, track.model.one_layer(track.params))
            error = np.zeros_like(report)
        else:
            (report, error), (selection, _) = (
                self._heldout(track, s) for s in ("report", "select")
            )
        columns = zip(
            track.seeds,
            *(column.tolist() for column in (report, error, selection, track.diverged_at)),
            strict=True,
        )
        return [
            {
                "setting": self.mix.name,
                "n": self.n,
                "model": task.model,
                "layers": task.layers,
                "arm": task.arm,
                "seed": seed,
                "risk": value,
                "risk_se": se,
                "iterations": task.recipe.iterations if diverged < 0 else diverged,
                "status": "ok" if diverged < 0 and math.isfinite(value) else "diverged",
                "selection_risk": select,
            }
            for seed, value, se, select, diverged in columns
        ]

    def _heldout(self, track: Track, stream: str) -> tuple[torch.Tensor, torch.Tensor]:
        sampler = GramSampler(self.mix, self.n, stream, self.device)
        batch = sampler.batch(0, track.task.recipe.test_contexts)
        sigma_x = track.theta.new_tensor(self.mix.sigma_x)
        return deep.heldout_risk(batch, track.params, sigma_x, self.mix.noise_var)


class _DataStream:
    """What the tracks of a stage train on at each iteration, made once for all of them."""

    def __init__(self, mix: TaskMixture, n: int, stage: str, device: str) -> None:
        sampler = GramSampler(mix, n, f"train {stage}", device)
        self._batch = lru_cache(maxsize=2)(sampler.batch)
        self._batch_moments = lru_cache(maxsize=2)(
            lambda *key: batch_moments(self._batch(*key), mix)
        )
        self._exact = lru_cache(maxsize=2)(
            lambda scale: population_moments(mix.scaled_means(scale), n)
        )

    def at(self, iteration: int, task: Task) -> Moments | GramBatch:
        scale = task.recipe.mean_scale_at(iteration)
        if task.recipe.gradient == "exact":
            return self._exact(scale)
        key = (iteration, task.recipe.gradient, scale)
        return self._batch_moments(*key) if task.layers == 1 else self._batch(*key)


class _Progress:
    """A line in the log now and then: where training is and when it will be done."""

    def __init__(self, name: str, first: int, iterations: int) -> None:
        self.name, self.first, self.iterations = name, first, iterations
        self.started = self.shown = time.monotonic()

    def show(self, done: int, tracks: Sequence[Track], values: Sequence[torch.Tensor]) -> None:
        now = time.monotonic()
        if now - self.shown < HEARTBEAT_SECONDS and done != self.iterations:
            return
        self.shown = now
        rate = (done - self.first) / (now - self.started)
        risks = ", ".join(
            f"{track.task.model} {track.task.arm} {value.nan_to_num(torch.inf).min():.4f}"
            f"/{value.nanmedian():.4f}"
            for track, value in zip(tracks, values, strict=True)
        )
        log.info(
            "%s: %d/%d, best/median risk %s, %.0f it/s, ETA %.0f s",
            self.name, done, self.iterations, risks, rate, (self.iterations - done) / rate,
        )  # fmt: skip
