"""The base of engines whose arithmetic is a compiled pass over blocks of contexts of one task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..models.base import Arrays
from .base import BatchEngine, weighted


@dataclass(frozen=True, eq=False)
class Blocks:
    """A batch cut into blocks of one task each; a task's last block is padded."""

    arrays: Sequence[np.ndarray]  # as the kernel takes them: [blocks, …]
    filled: np.ndarray  # false for padding: [blocks, block]
    weights: np.ndarray  # contexts' weights in the batch's mean, 0 for padding: [blocks, block]
    owners: np.ndarray  # the task of each block, [blocks]
    tasks: int  # K

    @classmethod
    def of(
        cls,
        arrays: Sequence[np.ndarray],
        counts: Sequence[int],
        block: int,
        weights: Sequence[np.ndarray] | None = None,
    ) -> Blocks:
        """`counts` are numbers of contexts and `weights` the contexts' own, by task."""
        share = np.float32(1 / sum(counts))
        even = cut([np.full(count, share, np.float32) for count in counts], block)
        owners = np.repeat(np.arange(len(counts)), [-(-count // block) for count in counts])
        own = even if weights is None else even * cut(weights, block)
        return cls(arrays, even > 0, own, owners, len(counts))


class BlockEngine(BatchEngine):
    """Computes in single precision. Engines add `_pass`; `blocks` cuts a batch."""

    def __init__(
        self,
        draw: Callable,
        noise_var: float,
        blocks: Callable[[Any], Blocks],
        threads: int,
        importance: Callable | None = None,
    ) -> None:
        super().__init__(draw, noise_var, importance)
        self._blocks = lru_cache(maxsize=2)(blocks)
        self._threads = threads

    def from_numpy(self, values: np.ndarray) -> np.ndarray:
        return values.astype(np.float32)

    def run(self, forwarded: Any, data: Any) -> tuple[np.ndarray, Any]:
        blocks = self._blocks(data)
        errors, grad = self._pass(forwarded, blocks, with_gradient=True)
        return (errors * blocks.weights).sum((1, 2), dtype=float) + self._noise_var, grad

    def errors(self, model: Any, params: Arrays, batch: Any) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = self._blocks(batch)
            errors, _ = self._pass(model.forward(params), blocks, with_gradient=False)
            return weighted(errors[:, blocks.filled], batch)

    def _pass(
        self, forwarded: Any, blocks: Blocks, *, with_gradient: bool
    ) -> tuple[np.ndarray, Any]:
        """Errors, [seeds, blocks, contexts], and the gradient with respect to what the model
        forwards."""
        raise NotImplementedError


def cut(parts: Sequence[np.ndarray], block: int) -> np.ndarray:
    """[…, B_k] of every task as [blocks, …, block]; a task's last block is padded with zeros."""
    numbers = [-(-part.shape[-1] // block) for part in parts]
    shape = parts[0].shape[:-1]
    out = np.empty((sum(numbers), math.prod(shape), block), np.float32)
    first = 0
    for part, number in zip(parts, numbers, strict=True):
        rows = part.reshape(out.shape[1], -1)
        count = rows.shape[1]
        whole = count // block
        own = out[first : first + number]
        if whole:
            blocks = rows[:, : whole * block].reshape(-1, whole, block)
            own[:whole] = blocks.swapaxes(0, 1)
        if whole < number:
            own[whole, :, count - whole * block :] = 0
            own[whole, :, : count - whole * block] = rows[:, whole * block :]
        first += number
    return out.reshape(-1, *shape, block)


def by_task(vectors: np.ndarray, tasks: int) -> np.ndarray:
    """[seeds, K or 1, …] as [seeds, K, …], in single precision."""
    shape = len(vectors), tasks, *vectors.shape[2:]
    return np.array(np.broadcast_to(vectors, shape), np.float32, order="C")


def by_seeds(run: Callable[[slice], None], seeds: int, threads: int) -> None:
    """Call `run` with slices of the seeds, one for each thread."""
    parts = np.array_split(np.arange(seeds), min(threads, seeds))
    slices = [slice(part[0], part[-1] + 1) for part in parts]
    if len(slices) == 1:
        run(slices[0])
    else:
        with ThreadPoolExecutor(len(slices)) as pool:
            list(pool.map(run, slices))
