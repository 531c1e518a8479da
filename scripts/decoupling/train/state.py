"""A run in training, over a block of seeds: its arrays and its step."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..engines.base import Engine, RiskEstimate
from ..problem.scaling import Scaling
from . import optimisers
from .recipe import Run

log = logging.getLogger(__name__)

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]  # a risk and its gradient
MEMORY = 300  # averaging window of the running risk, in batches; older ones count less


class TrainState:
    """A run's parameters for a block of seeds, and its optimiser's state.

    All trained parameters of a seed are one row of `theta`, their gradient one row of `grad`;
    `params` are views into `theta`, and frozen parameters. Arrays are the engine's, with a row for
    each seed that is still `running`: halving stops others.
    """

    def __init__(
        self,
        run: Run,
        engine: Engine,
        shape: tuple[int, int],
        seeds: Sequence[int],
        frozen: Mapping[str, Any] | None = None,
        scaling: Scaling | None = None,
    ) -> None:
        """`shape` is (d, K); `frozen` are the weights of `plain` that an arm does not train;
        `scaling` has the standard units that the engine's data are in."""
        self.run, self.engine, self.seeds, self.scaling = run, engine, seeds, scaling
        self.model = run.curve.build(*shape)
        self.optimiser = optimisers.load(run.recipe.optimiser)
        self.shapes = self.model.trained_shapes(run.curve.trains)
        self._step_factor = scaling.step_factor if scaling else 1.0
        std = self._step_factor * run.recipe.init_std
        initial = self.model.initial_values(run.curve.trains, seeds, std)
        fixed = self.model.fixed_values(run.curve.trains, len(seeds))
        untrained = {name: engine.from_numpy(value) for name, value in fixed.items()}
        untrained = {**(frozen or {}), **untrained}
        flat = np.concatenate([x.reshape(len(seeds), -1) for x in initial.values()], axis=1)
        zeros = np.zeros_like(flat)
        optimiser_state = {name: engine.from_numpy(zeros.copy()) for name in self.optimiser.STATE}
        self._hold(engine.from_numpy(flat), engine.from_numpy(zeros), optimiser_state, untrained)
        self.running = np.arange(len(seeds))  # positions in `seeds`
        self.stopped_at = np.full(len(seeds), -1)  # iteration after which a seed was stopped
        self.diverged_at = np.full(len(seeds), -1)  # iteration at which divergence was seen
        self.log_risk = np.zeros(len(seeds))  # logarithm of the running risk, of running seeds
        self._options = dict(run.recipe.options)
        self._rates = engine.from_numpy(self._rate_factors())

    def _hold(self, theta: Any, grad: Any, optimiser_state: Mapping, frozen: Mapping) -> None:
        self.theta, self.grad = theta, grad
        self.optimiser_state, self._frozen = optimiser_state, frozen
        self.params = {**frozen, **self._views(theta)}
        self._grads = self._views(grad)

    def _views(self, flat: Any) -> dict[str, Any]:
        """Parameters by name."""
        views, start = {}, 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            views[name] = flat[:, start:end].reshape(len(flat), *shape)
            start = end
        return views

    def _rate_factors(self) -> np.ndarray:
        """The parameters' learning rates as multiples of the recipe's: [1, parameters]."""
        factors = {"prompts": self.run.recipe.prompt_lr_factor}
        parts = [
            np.full(math.prod(shape), float(factors.get(name, 1)))
            for name, shape in self.shapes.items()
        ]
        return np.concatenate(parts)[None]

    def _rates_at(self, iteration: int) -> Any:
        recipe = self.run.recipe
        scale = recipe.mean_scale_at(iteration)
        if scale == 1 or not recipe.prompts_with_means or "prompts" not in self.shapes:
            return self._rates
        rates = self._rates + 0  # a copy, of whatever kind the engine's arrays are
        self._views(rates)["prompts"][:] *= scale
        return rates

    @property
    def risk_unit(self) -> float:
        """The factor from the engine's risks to those in the data's units: s² in standard units."""
        return 1.0 if self.scaling is None else self.scaling.label**2

    def step(self, iteration: int, data: Any) -> np.ndarray:
        """One step: gradient, running risk, clipping, optimiser. Returns every seed's risk before
        it."""
        risks = self.engine.risk_and_gradient(self.model, data, self.params, self._grads)
        recipe = self.run.recipe
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if recipe.has_running_risk:
                share = 1 / min(iteration + 1, MEMORY)
                self.log_risk += share * (np.log(risks) - self.log_risk)
            if recipe.clip_ratio is not None:
                self._clip(recipe.clip_ratio * np.exp(self.log_risk))
            rates, lr = self._rates_at(iteration), self._step_factor * recipe.lr_at(iteration)
            arrays = self.theta, self.optimiser_state, self.grad
            self.optimiser.update(*arrays, rates, lr, iteration + 1, **self._options)
        return risks

    def _clip(self, most: np.ndarray) -> None:
        """Shorten gradients to `most`, [running seeds], at most. In double precision: the square of
        a gradient that brings a seed back from far away can overflow single precision."""
        lengths = np.linalg.norm(self.engine.to_numpy(self.grad).astype(float), axis=1)
        self.grad *= self.engine.from_numpy((most / lengths).clip(max=1)[:, None])

    def note_divergence(self, iteration: int, risks: np.ndarray) -> None:
        bad = self.running[~np.isfinite(risks)]
        bad = bad[self.diverged_at[bad] < 0]
        if len(bad):
            seeds = [self.seeds[i] for i in bad]
            log.warning("%s: seeds %s diverged by iteration %d", self.run.key, seeds, iteration)
            self.diverged_at[bad] = iteration

    def halve(self, iteration: int) -> None:
        """Stop the worse half of every group of seeds, by their running risk.

        The running risk is the geometric mean of the last batches' risks, each measured before the
        seed learned from the batch: on contexts that all seeds share and none has seen. By the risk
        of a single batch, accidents of the last steps would decide. Groups depend on the seeds'
        numbers, not on their job.
        """
        ruined = ~np.isfinite(self.engine.to_numpy(self.theta)).all(1)
        self.note_divergence(iteration, np.where(ruined, np.nan, self.log_risk))
        risks = np.where(self.diverged_at[self.running] < 0, self.log_risk, np.nan)
        group_size = self.run.recipe.halving_group
        groups = np.array([self.seeds[i] // group_size for i in self.running])
        order = np.argsort(risks, kind="stable")  # NaN comes last
        kept = []
        for group in np.unique(groups):
            members = order[groups[order] == group]
            kept += list(members[: -(-len(members) // 2)])
        stopped = np.setdiff1d(np.arange(len(self.running)), kept)
        self.stopped_at[self.running[stopped]] = iteration
        self._keep(np.sort(kept))
        log.info("%s: %d seeds go on from iteration %d", self.run.key, len(kept), iteration)

    def _keep(self, places: np.ndarray) -> None:
        """Keep only these of the running seeds."""
        self.running, self.log_risk = self.running[places], self.log_risk[places]
        optimiser_state, frozen = (
            {name: value[places] for name, value in arrays.items()}
            for arrays in (self.optimiser_state, self._frozen)
        )
        self._hold(self.theta[places], self.grad[places], optimiser_state, frozen)

    def best(self, test: RiskEstimate) -> int | None:
        """The place of the running seed with the least selection risk; None if none is ok."""
        usable = np.isfinite(test.risk) & (self.diverged_at[self.running] < 0)
        if not usable.any():
            return None
        return int(np.nanargmin(np.where(usable, test.selection_risk, np.inf)))

    def values(self, place: int) -> dict[str, np.ndarray]:
        """A running seed's parameters in the data's units."""
        params = {name: self.engine.to_numpy(value)[place] for name, value in self.params.items()}
        if self.scaling:
            exact = {name: array.astype(float) for name, array in params.items()}
            params = self.model.from_standard(exact, self.scaling)
        return params

    def objective(self, place: int, data: Any) -> tuple[Objective, np.ndarray]:
        """A running seed's risk and gradient as a function of its parameters, and their values."""
        theta, grad = self.theta[[place]], np.zeros_like(self.grad[[place]])
        frozen = {name: value[[place]] for name, value in self._frozen.items()}
        params, grads = {**frozen, **self._views(theta)}, self._views(grad)

        def objective(unknowns: np.ndarray) -> tuple[float, np.ndarray]:
            theta[0] = unknowns
            risks = self.engine.risk_and_gradient(self.model, data, params, grads)
            return risks.item(), grad[0].copy()

        return objective, theta[0].copy()

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays that training changes, for the checkpoint."""
        counts = ("running", "stopped_at", "diverged_at", "log_risk")
        stepped = {name: self.engine.to_numpy(array) for name, array in self._stepped().items()}
        return stepped | {name: getattr(self, name) for name in counts}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._keep(arrays["running"])
        for name, array in self._stepped().items():
            array[:] = self.engine.from_numpy(arrays[name])
        for name in ("stopped_at", "diverged_at", "log_risk"):
            getattr(self, name)[:] = arrays[name]

    def _stepped(self) -> dict[str, Any]:
        """The arrays that a step changes and the next one reads: parameters, and the optimiser's
        state."""
        kept = {f"optimiser.{name}": array for name, array in self.optimiser_state.items()}
        return {"theta": self.theta, **kept}
