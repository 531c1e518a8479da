"""Training: all seeds of a block at once, stage by stage of the paper's protocol.

Arms that train the attention weights start from random initialisations; then the fine-tuned
arms start from the same seed's finished `plain` weights. All runs of one engine step through the
same data together.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import engines
from ..engines.base import RiskEstimate
from ..problem.scaling import Scaling
from ..problem.streams import Stream
from .checkpoint import Checkpoint
from .progress import Progress
from .recipe import Run
from .results import parameter_rows, seed_rows
from .state import TrainState

log = logging.getLogger(__name__)

CHECK_EVERY = 100  # iterations between checks for divergence


@dataclass(frozen=True, eq=False)
class Trained:
    """Results of the reported runs: a row per (run, seed) with its test risk, and a row per (run,
    parameter) with the values of the block's best seed."""

    rows: list[dict[str, Any]]
    parameters: list[dict[str, Any]]


def train(
    contexts: Any,
    runs: Sequence[Run],
    seeds: Sequence[int],
    *,
    checkpoint: Checkpoint | None = None,
    device: str = "cpu",
    threads: int = 1,
) -> Trained:
    """Train every run for a block of seeds. A fine-tuned run needs its model's `plain` among the
    others."""
    job = _Job(contexts, seeds, checkpoint)
    states: dict[str, TrainState] = {}
    for engine_name, standardised in dict.fromkeys(map(_sees, runs)):
        seen = contexts.standardised(job.scaling) if standardised else contexts
        engine = engines.load(engine_name)(seen, device, threads)
        own = [run for run in runs if _sees(run) == (engine_name, standardised)]
        stage = f"{engine_name} in standard units" if standardised else engine_name
        trained = [job.start(run, engine) for run in own if run.curve.trains.weights]
        job.run_stage(f"{stage}, training", Stream.TRAINING, trained)
        job.plain |= {_owner(s.run): s for s in trained if s.run.curve.arm == "plain"}
        tuned = [
            job.start(run, engine, job.plain[_owner(run)])
            for run in own
            if not run.curve.trains.weights
        ]
        job.run_stage(f"{stage}, fine-tuning", Stream.FINE_TUNING, tuned)
        states |= {state.run.key: state for state in (*trained, *tuned)}
    reported = [states[run.key] for run in runs if run.reported]
    return job.results(reported, _tests(reported))


def _tests(states: Sequence[TrainState]) -> dict[TrainState, RiskEstimate]:
    """States with the same held-out contexts are tested together, so that these are drawn once."""
    alike: dict[tuple[Any, int], list[TrainState]] = {}
    for state in states:
        alike.setdefault((state.engine, state.run.recipe.test_contexts), []).append(state)
    found: dict[TrainState, RiskEstimate] = {}
    for (engine, count), members in alike.items():
        tests = engine.test([(state.model, state.params) for state in members], count)
        pairs = zip(members, tests, strict=True)
        found |= {state: test.times(state.risk_unit) for state, test in pairs}
    return found


def _data(state: TrainState, stream: Stream, iteration: int) -> Any:
    return state.engine.data(stream, iteration, *state.run.recipe.data_at(iteration))


def _sees(run: Run) -> tuple[str, bool]:
    """The engine, and whether units are standard. Runs that agree in both see the same data."""
    return run.curve.model_class.engine, run.standardised


def _owner(run: Run) -> tuple[str, int]:
    """The model and depth whose weights a run has."""
    return run.curve.model, run.curve.layers


class _Job:
    """One block of seeds at one (setting, n): its stages and its checkpoint."""

    def __init__(self, contexts: Any, seeds: Sequence[int], checkpoint: Checkpoint | None) -> None:
        self.contexts, self.seeds, self.checkpoint = contexts, seeds, checkpoint
        saved = checkpoint.load() if checkpoint else None
        self.progress, self.saved = saved or ({"finished": []}, {})
        self.finished: dict[str, list[TrainState]] = {}
        self.plain: dict[tuple[str, int], TrainState] = {}  # by model and depth

    @cached_property
    def scaling(self) -> Scaling:
        return Scaling.of(self.contexts.spec, self.contexts.n)

    def start(self, run: Run, engine: Any, plain: TrainState | None = None) -> TrainState:
        """Fine-tuning starts from the final weights of `plain`, for its surviving seeds."""
        shape = self.contexts.spec.dim, self.contexts.spec.tasks
        scaling = self.scaling if run.standardised else None
        if plain is None:
            return TrainState(run, engine, shape, self._seeds(run), scaling=scaling)
        seeds = [plain.seeds[i] for i in plain.running]
        return TrainState(run, engine, shape, seeds, plain.params, scaling)

    def _seeds(self, run: Run) -> list[int]:
        return [seed for seed in self.seeds if run.seeds is None or seed < run.seeds]

    def run_stage(self, name: str, stream: Stream, states: list[TrainState]) -> None:
        """Train the states together, from where the checkpoint left them."""
        iterations = max((state.run.recipe.iterations for state in states), default=0)
        first = self._restore(name, states, iterations)
        progress = Progress(f"{self.contexts.spec.name} n={self.contexts.n} {name}", first)
        for iteration in range(first, iterations):
            active = [s for s in states if iteration < s.run.recipe.iterations]
            risks = [state.step(iteration, _data(state, stream, iteration)) for state in active]
            done = iteration + 1
            if done % CHECK_EVERY == 0 or done == iterations:
                for state, values in zip(active, risks, strict=True):
                    state.note_divergence(done, values)
            for state in active:
                # Fine-tuning starts from plain's surviving seeds.
                if state.run.curve.trains.weights and done in state.run.recipe.halved_at:
                    state.halve(done)
            progress.show(done, iterations, active, risks)
            self._save_if_due(name, done, states)
        self.finished[name] = states

    def _restore(self, name: str, states: Sequence[TrainState], iterations: int) -> int:
        """Restore the states from the checkpoint; returns the iteration to go on from."""
        if name in self.progress["finished"]:
            first = iterations
        elif self.progress.get("stage") == name:
            first = self.progress["iteration"]
            log.info("%s: going on from iteration %d", name, first)
        else:
            return 0
        for i, state in enumerate(states):
            names = [key for key in self.saved if key.startswith(f"{name}/{i}/")]
            state.restore({key.rpartition("/")[2]: self.saved[key] for key in names})
        return first

    def _save_if_due(self, name: str, iteration: int, states: Sequence[TrainState]) -> None:
        if self.checkpoint and self.checkpoint.due:
            progress = {"stage": name, "iteration": iteration, "finished": list(self.finished)}
            arrays = {
                f"{stage}/{i}/{key}": array
                for stage, members in {**self.finished, name: states}.items()
                for i, state in enumerate(members)
                for key, array in state.arrays().items()
            }
            self.checkpoint.save(progress, arrays)

    def results(
        self, states: Sequence[TrainState], tests: Mapping[TrainState, RiskEstimate]
    ) -> Trained:
        trained = Trained([], [])
        for state in states:
            curve = state.run.curve
            point = {
                "setting": self.contexts.spec.name,
                "n": self.contexts.n,
                "model": curve.model,
                "layers": curve.layers,
                "arm": curve.arm,
            }
            test, plain = tests[state], self.plain.get(_owner(state.run))
            trained.rows.extend(seed_rows(point, state, test, self._seeds(state.run), plain))
            trained.parameters.extend(parameter_rows(point, state, test))
        return trained
