"""Batches cut into blocks of one task each, as compiled passes take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def owners(counts: Sequence[int], block: int) -> np.ndarray:
    """Whose each block is, [blocks], of so many contexts of every task."""
    return np.repeat(np.arange(len(counts)), [-(-count // block) for count in counts])


def cut(parts: Sequence[np.ndarray], block: int) -> np.ndarray:
    """[…, B_k] of every task as [blocks, …, block]; a task's last block is filled up with zeros."""
    numbers = [-(-part.shape[-1] // block) for part in parts]
    out = np.zeros((sum(numbers), *parts[0].shape[:-1], block), np.float32)
    first = 0
    for part, number in zip(parts, numbers, strict=True):
        count = part.shape[-1]
        whole = count // block
        own = out[first : first + number]
        if whole:
            shape = *part.shape[:-1], whole, block
            own[:whole] = np.moveaxis(part[..., : whole * block].reshape(shape), -2, 0)
        if whole < number:
            own[whole, ..., : count - whole * block] = part[..., whole * block :]
        first += number
    return out


def weights(counts: Sequence[int], block: int) -> np.ndarray:
    """Every context's share of the batch, [blocks, block]; what fills up a block has none."""
    share = np.float32(1 / sum(counts))
    return cut([np.full(count, share, np.float32) for count in counts], block)


def by_seeds(run: Callable[[slice], None], seeds: int, threads: int) -> None:
    """Call `run` with slices of the seeds, one for each thread."""
    parts = np.array_split(np.arange(seeds), min(threads, seeds))
    slices = [slice(part[0], part[-1] + 1) for part in parts]
    if len(slices) == 1:
        run(slices[0])
    else:
        with ThreadPoolExecutor(len(slices)) as pool:
            list(pool.map(run, slices))
