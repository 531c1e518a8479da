"""Where contexts come from.

A source is a folder with two modules: `block`, which makes a spec of a block in the config, and
`contexts`, which makes what training sees of a spec. An edit to the first trains nothing.

`block` has PROPERTIES and REQUIRED, its keys; ENGINES, those that it serves; and

    shape(block)                       (d, K)
    make_spec(name, block)             a TaskMixture; theory takes it for Gaussian, and so does the
                                       Bayes-optimal risk, which another source may go below

`contexts` has a class CONTEXTS, whose `spec` and `n` are what it was given; Σx and σ² of a risk are
the spec's. What engines ask it for:

    read(spec, n)                                     itself, of a spec's text
    standardised(scaling)                             itself, in a `problem.scaling.Scaling`'s
                                                      standard units
    moments(mean_scale=1.0)                           exact moments, with `risk` and
                                                      `risk_and_gradient` of a one-layer model
    batch_moments(stream, index, size, mean_scale)    the same of a batch
    batch(stream, index, size, mean_scale=1.0)        a `problem.gram.GramBatch`
    importance_batch(…)                               one with weights, for risks; it can be
                                                      `batch`
    sequences(…)                                      a `problem.sequences.SequenceBatch`

Arrays of a batch are lists by task, contexts last. Batch `index` of a `stream` is always the same
one. `mean_scale` s asks for tasks with means sμ_k. Targets are without the query's noise: engines
add σ² to the risk.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import discover

DEFAULT = "gaussian"  # of settings that do not say


def load(source: str) -> Any:
    """The class that reads a spec: `load(source).read(text, n)` gives its contexts."""
    return import_module(f"{__name__}.{source}.contexts").CONTEXTS


@cache
def blocks() -> dict[str, ModuleType]:
    """How each source reads its settings."""
    found = discover.names(__name__)
    return {name: import_module(f"{__name__}.{name}.block") for name in found}


def source_of(block: Mapping[str, Any]) -> str:
    """The source that a setting names; else the one whose own key it has, or the default."""
    own = (name for name, made in blocks().items() if getattr(made, "KEY", None) in block)
    return block.get("source", next(own, DEFAULT))
