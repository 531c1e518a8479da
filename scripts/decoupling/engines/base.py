"""The base of every engine, and of those that test models on held-out contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..problem.streams import Stream

HELD_OUT = 65_536  # contexts at a time where the risk is estimated
NUMBERS = 2 * 10**7  # at most, in their packed Gram matrices
TAIL = 0.001  # the share of held-out contexts with the largest errors

Params = Mapping[str, Any]  # the engine's arrays by name, batched over seeds


def grams_at_a_time(dim: int) -> int:
    """The number of held-out contexts to draw at a time, as Gram matrices."""
    return min(HELD_OUT, NUMBERS // ((dim + 1) * (dim + 2) // 2))


@dataclass(frozen=True, eq=False)
class RiskEstimate:
    """The test risk of every seed, [seeds] each."""

    risk: np.ndarray
    risk_se: np.ndarray  # its standard error
    selection_risk: np.ndarray  # by which the best seed is chosen
    tail_share: np.ndarray | None = None  # of the largest errors; None if the risk is exact

    def times(self, factor: float) -> RiskEstimate:
        """The risk for labels √factor times as large."""
        scaled = (factor * risks for risks in (self.risk, self.risk_se, self.selection_risk))
        return RiskEstimate(*scaled, self.tail_share)

    def by_seed(self) -> list[dict[str, float | None]]:
        """The same, seed by seed."""
        found = {name: array for name, array in vars(self).items() if array is not None}
        values = zip(*(array.tolist() for array in found.values()), strict=True)
        return [{"tail_share": None, **dict(zip(found, row, strict=True))} for row in values]


class Engine:
    """Trains and tests models on a source's contexts at one n.

    A model's `forward(params)` gives the part of it that meets the data; its `backward` carries the
    gradient with respect to that part back to the parameters. Engines differ in `run`.
    """

    chunk = HELD_OUT  # held-out contexts at a time

    def from_numpy(self, values: np.ndarray) -> Any:
        """NumPy's numbers as the engine's arrays."""
        return values

    def to_numpy(self, array: Any) -> np.ndarray:
        return array

    def data(
        self, stream: int, index: int, size: int | None, mean_scale: float, importance: bool
    ) -> Any:
        """The data of a step: batch `index` of a stream, of `size` contexts. With size None they
        give the exact gradient. Task means are scaled; `importance` asks for weighted contexts."""
        raise NotImplementedError

    def run(self, forwarded: Any, data: Any) -> tuple[np.ndarray, Any]:
        """Every seed's risk, and its gradient with respect to what the model forwards."""
        raise NotImplementedError

    def risk_and_gradient(self, model: Any, data: Any, params: Params, out: Params) -> np.ndarray:
        """Every seed's risk; the gradient of the trained parameters goes into `out`."""
        with np.errstate(over="ignore", invalid="ignore"):  # diverged seeds are counted later
            risks, grad = self.run(model.forward(params), data)
            model.backward(params, grad, out)
        return risks

    def test(self, trained: Sequence[tuple[Any, Params]], count: int) -> list[RiskEstimate]:
        """The test risk of each (model, params), on `count` contexts unless it is exact."""
        raise NotImplementedError

    def held_out(self, stream: int, index: int, size: int) -> Any:
        """A batch of held-out contexts, weighted if the source has weights."""
        raise NotImplementedError

    def errors(self, model: Any, params: Params, batch: Any) -> np.ndarray:
        """Squared errors of every seed and context, without the noise of the query's label, times
        the context's weight: [seeds, B]."""
        raise NotImplementedError

    def errors_on(
        self, stream: Stream, trained: Sequence[tuple[Any, Params]], count: int
    ) -> Iterator[list[np.ndarray]]:
        """The errors of every model, one part of the held-out contexts after another."""
        for index, first in enumerate(range(0, count, self.chunk)):
            batch = self.held_out(stream, index, min(self.chunk, count - first))
            yield [self.errors(model, params, batch) for model, params in trained]


class BatchEngine(Engine):
    """The test risk is estimated on held-out contexts, and the best seed chosen on another set of
    them, because a minimum over noisy estimates is biased low."""

    def __init__(
        self, draw: Callable, noise_var: float, importance: Callable | None = None
    ) -> None:
        """`draw(stream, index, size, mean_scale)` gives a batch; `importance` gives one with
        weights, by which risks are estimated (default: `draw`)."""
        self._draw = lru_cache(maxsize=2)(draw)
        self._importance = lru_cache(maxsize=2)(importance) if importance else self._draw
        self._noise_var = noise_var

    def data(self, stream: int, index: int, size: int, mean_scale: float, importance: bool) -> Any:
        return (self._importance if importance else self._draw)(stream, index, size, mean_scale)

    def held_out(self, stream: int, index: int, size: int) -> Any:
        return self._importance(stream, index, size, 1.0)

    def test(self, trained: Sequence[tuple[Any, Params]], count: int) -> list[RiskEstimate]:
        totals: list[Any] = [0.0] * len(trained)
        for parts in self.errors_on(Stream.SELECTION, trained, count):
            sums = (errors.sum(1, dtype=float) for errors in parts)
            totals = [total + own for total, own in zip(totals, sums, strict=True)]
        report = zip(*self.errors_on(Stream.REPORT, trained, count), strict=True)
        return [
            RiskEstimate(
                errors.mean(1, dtype=float) + self._noise_var,
                errors.std(1, ddof=1, dtype=float) / count**0.5,
                total / count + self._noise_var,
                tail_share(errors),
            )
            for total, errors in zip(totals, (np.hstack(parts) for parts in report), strict=True)
        ]


def tail_share(errors: np.ndarray) -> np.ndarray:
    """The share of the largest errors, TAIL of all, in the sum: [seeds, B] to [seeds]."""
    few = max(1, round(TAIL * errors.shape[1]))
    largest = np.partition(errors, -few, axis=1)[:, -few:]
    return largest.sum(1, dtype=float) / errors.sum(1, dtype=float)


def weighted(errors: np.ndarray, batch: Any) -> np.ndarray:
    """Errors of contexts, [seeds, B], times their weights, if the batch has any."""
    weights = getattr(batch, "weights", None)
    return errors if weights is None else errors * np.concatenate(weights)
