"""Sources of contexts.

A source is a folder with two modules: `block` makes a spec from a block in the config, and
`contexts` makes from a spec the data that engines train on. An edit to `block` retrains nothing.

`block` has PROPERTIES and REQUIRED, its keys; ENGINES, those that it serves; and

    shape(block)                       (d, K)
    make_spec(name, block)             a TaskMixture; theory and the Bayes-optimal risk assume that
                                       it is Gaussian, so that other data may have lower risks

`contexts` has a class CONTEXTS with attributes `spec` and `n`; Σx and σ² of a risk are the spec's.
Its methods for engines:

    read(spec, n)                                     an instance, from a spec's text
    standardised(scaling)                             the same in the standard units of a
                                                      `problem.scaling.Scaling`
    moments(mean_scale=1.0)                           exact moments, with `risk` and
                                                      `risk_and_gradient` of a one-layer model
    batch_moments(stream, index, size, mean_scale)    the same for a batch
    batch(stream, index, size, mean_scale=1.0)        a `problem.gram.GramBatch`
    importance_batch(…)                               one with weights, for risks; may be `batch`
    sequences(…)                                      a `problem.sequences.SequenceBatch`

Arrays of a batch are lists by task, contexts last. Batch `index` of a `stream` is always the same.
With `mean_scale` s, tasks have means sμ_k. Targets are without the query's noise: engines add σ² to
the risk.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import discover

DEFAULT = "gaussian"  # of settings without the key `source`


def load(source: str) -> Any:
    """The class that reads a spec: `load(source).read(text, n)` gives its contexts."""
    return import_module(f"{__name__}.{source}.contexts").CONTEXTS


@cache
def blocks() -> dict[str, ModuleType]:
    """Each source's module `block`."""
    found = discover.names(__name__)
    return {name: import_module(f"{__name__}.{name}.block") for name in found}


def source_of(block: Mapping[str, Any]) -> str:
    """The source that a setting names; else the one whose KEY it has, or the default."""
    own = (name for name, made in blocks().items() if getattr(made, "KEY", None) in block)
    return block.get("source", next(own, DEFAULT))
