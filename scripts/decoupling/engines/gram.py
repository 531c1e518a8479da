"""Batches of Gram matrices: for models of layers that see a context only through its own.

A model gives `chain(params)`, what it is to the data (`models.layered.Chain`), and `pull_back`, the
way back of the gradient. On a CPU the arithmetic is one compiled pass, in single precision; torch
does it on a GPU, and where matrices are too large for that. The query integrates out: the error of
a context is (v − β)ᵀΣx(v − β).
"""

from __future__ import annotations

from typing import Any

from ..kernels import LARGEST
from .batches import BatchEngine


def engine(contexts: Any, device: str = "cpu", threads: int = 1) -> BatchEngine:
    if device == "cpu" and contexts.spec.dim + 1 <= LARGEST:
        from .gram_compiled import CompiledEngine as Engine
    else:
        from .gram_torch import TorchEngine as Engine
    return Engine(contexts, device, threads)


ENGINE = engine
