"""Files, parameters and resources of jobs: specs, training and folds. `duration` has the time that
training asks for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from .. import sources
from ..config import Config
from ..config.protocols import Protocol
from ..config.settings import Setting
from ..models.arms import ARMS
from ..models.curve import Curve
from ..problem.each_context import PAYS_FROM
from ..problem.mixture import TaskMixture
from ..tables import FIGURE_TABLES
from ..train.recipe import Run

SEQUENCES = ("sequences", "softmax")  # engines that train on tokens
BATCH = 8192  # contexts of a batch, at least
CLUSTERS = 300  # assumed for memory; the number is known from the file only
MOST_MB = 100_000  # the most that a job may ask for
LIGHT_MB, LIGHT_MINUTES = 1000, 1  # limits of jobs that stay with the main process
MADE = sources.blocks()["table"].MADE  # data/tables/<name>.csv


def canonical_json(value: Any) -> str:
    """A text that changes only with the value, to be recorded as a parameter."""
    return json.dumps(value, sort_keys=True)


@cache
def spec_text(setting: Setting) -> str:
    """The content of a setting's spec."""
    return mixture(setting).to_json()


@cache
def mixture(setting: Setting) -> TaskMixture:
    return sources.blocks()[setting.source].make_spec(setting.name, setting.block)


@cache
def fingerprint(setting: Setting) -> str:
    return mixture(setting).fingerprint


def figure_files(config: Config, figure: str) -> dict[str, list[str]]:
    """The files of a figure's tables, by table."""
    needs = config.figures[figure].needs(config)
    of = {"root": config.root, "protocol": config.protocol.name}
    return {
        table: [path.format(name=name, **of) for name in needs[table]]
        for table, (_, path) in FIGURE_TABLES.items()
        if table in needs
    }


def source_files(setting: Setting) -> list[str]:
    """Files that the setting's contexts are drawn from."""
    files = getattr(sources.blocks()[setting.source], "files", None)
    return files(setting.block) if files else []


def mixtures(config: Config) -> list[str]:
    """Settings whose spec is made from the config alone."""
    return [name for name, made in config.settings.items() if made.has_mixture]


def seed_blocks(protocol: Protocol, setting: Setting) -> list[tuple[int, int]]:
    """(first, last) of each block of seeds that a protocol trains for a setting."""
    seeds = max(run.seeds for run in setting_runs(protocol, setting))
    size = protocol.job_size(setting.curves)
    return [(first, min(first + size, seeds) - 1) for first in range(0, seeds, size)]


@cache
def setting_runs(protocol: Protocol, setting: Setting) -> list[Run]:
    """Runs of a protocol for a setting. Cached, as every training job needs them several times."""
    trained = trained_curves(setting).items()
    return [replace(protocol.run(curve), reported=reported) for curve, reported in trained]


def trained_curves(setting: Setting) -> dict[Curve, bool]:
    """The curves to train, and whether they are reported: `plain` is not, if only fine-tuned arms
    need it."""
    curves = dict.fromkeys(setting.curves, True)
    for curve in setting.curves:
        if not curve.trains.weights:
            curves.setdefault(replace(curve, arm="plain", trains=ARMS["plain"].trains), False)
    return curves


def block_runs(protocol: Protocol, setting: Setting, first: int, last: int) -> str:
    """Runs of a block of seeds, as JSON. It does not depend on other blocks, so that more seeds
    leave finished blocks alone."""
    runs = [run for run in setting_runs(protocol, setting) if run.seeds > first]
    return canonical_json([asdict(replace(run, seeds=min(run.seeds, last + 1))) for run in runs])


def run_files(config: Config, what: str, protocol: str, setting: str) -> list[str]:
    """The files of all training jobs of a setting; `what` is runs or parameters."""
    chosen = config.settings[setting]
    return [
        f"data/{protocol}/{what}/{setting}/n{n}/seeds{first}-{last}.parquet"
        for n in chosen.n
        for first, last in seed_blocks(config.protocols[protocol], chosen)
    ]


def modules(setting: Setting) -> list[str]:
    """The modules that a setting's training loads by name."""
    return curve_modules(setting.source, setting.curves)


def curve_modules(source: str, curves: Iterable[Curve]) -> list[str]:
    """The modules that a job of these curves loads by name."""
    found = {f"sources.{source}.contexts"}
    for curve in curves:
        found |= {f"models.{curve.module}", f"engines.{curve.model_class.engine}"}
    return sorted(found)


def curves_text(curves: Iterable[Curve]) -> str:
    """Curves as JSON, for scripts that evaluate them."""
    return canonical_json([asdict(curve) for curve in curves])


def optimisers(protocol: Protocol, setting: Setting) -> list[str]:
    """Modules of optimisers that a setting's training loads by name."""
    found = {run.recipe.optimiser for run in setting_runs(protocol, setting)}
    return sorted(f"train.optimisers.{name}" for name in found)


def mem_mb(protocol: Protocol, setting: Setting) -> int:
    """Memory of training: at d = 10, 50 seeds take up to 370 MB in one layer, 890 MB in more; three
    layers take 900 MB at d = 50 and 1.3 GB at d = 100."""
    base = 1000 if all(curve.model_class.exact() for curve in setting.curves) else 2000
    return base + sum(growing_mb(protocol, setting).values())


def growing_mb(protocol: Protocol, setting: Setting) -> dict[str, int]:
    """Memory that grows with sizes, in MB, by the config key that reduces it."""
    dim, tasks = setting.shape
    runs = setting_runs(protocol, setting)
    recipes = [run.recipe for run in runs if run.recipe.batch_size != "exact"]
    batch = max([BATCH, *(recipe.batch_at(recipe.iterations) for recipe in recipes)])
    # Where sequences are trained on, the tokens of a batch grow with n.
    sequences = any(curve.model_class.engine in SEQUENCES for curve in setting.curves)
    tokens = max(setting.n) * (dim + 1) * 4 * 4 * batch / 1e6 if sequences else 0
    deep = any(curve.layers > 1 for curve in setting.curves)
    grams = (dim + 1) ** 2 * 4 * 5 * batch / 1e6 if deep else 0  # a batch and its parts
    # One layer needs a dozen matrices per seed and task. On batches it also needs their fourth
    # moments, with four tables per task, or six copies of the packed Gram matrices.
    matrices = 12 * (protocol.job_size(setting.curves) + tasks) * (dim + 1) ** 2 * 8 / 1e6
    seen = 0.0
    if any(run.curve.model_class.exact() and run.recipe.batch_size != "exact" for run in runs):
        packed = 4 * 6 * batch * (dim + 1) ** 2 / 2
        fourth = 8 * 4 * tasks * (dim + 1) ** 4
        seen = (packed if sees_each_context(setting) else fourth) / 1e6
    return {"n": round(tokens), "d": round(grams + matrices), "batch_size": round(seen)}


def sees_each_context(setting: Setting) -> bool:
    """Whether one layer sees a batch context by context, not by fourth moments."""
    dim, _ = setting.shape
    return setting.source == sources.DEFAULT and dim >= PAYS_FROM


def theory_mb(setting: Setting) -> int:
    """Memory of theory: a few dozen matrices per task."""
    dim, tasks = setting.shape
    return 500 + round(8 * 40 * tasks * (dim + 1) ** 2 / 1e6)


def bayes_mb(setting: Setting) -> int:
    """Memory of the Bayes-optimal risk: 10,000 d × d matrices, and parts of them."""
    dim, _ = setting.shape
    return 500 + round(1.2 * 8 * 10_000 * dim**2 / 1e6)


def theory_minutes(setting: Setting) -> float:
    """Twice the measured time: 0.6 s an n with d = 100, 2.3 s with 20 tasks instead of
    two, 3.3 s with d = 200."""
    dim, tasks = setting.shape
    return len(setting.n) * 4e-7 * tasks * (dim + 1) ** 3 / 60


def bayes_minutes(setting: Setting) -> float:
    """Twice the measured time: 28 s an n with d = 100 and two tasks."""
    dim, tasks = setting.shape
    return len(setting.n) * 3e-5 * tasks * (dim + 1) ** 3 / 60


COMPUTED = {"theory": (theory_mb, theory_minutes), "bayes": (bayes_mb, bayes_minutes)}


def is_large(table: str, setting: Setting) -> bool:
    """Whether computing a table is too much for a login node."""
    asked_mb, minutes = COMPUTED[table]
    return minutes(setting) > LIGHT_MINUTES or asked_mb(setting) > LIGHT_MB


def computed(config: Config, table: str, large: bool) -> list[str]:
    """Settings with a mixture: those for which a table is large, or the others."""
    return [name for name in mixtures(config) if is_large(table, config.settings[name]) == large]


def device(protocol: Protocol, setting: Setting) -> str:
    """The protocol's device; one-layer models of moments are always trained on the CPU."""
    return "cpu" if all(curve.model_class.exact() for curve in setting.curves) else protocol.device


def gpus(protocol: Protocol, setting: Setting) -> int | None:
    """The number of GPUs that training asks for; None for none."""
    return 1 if device(protocol, setting) == "cuda" else None


def folds(config: Config) -> list[str]:
    """Settings that are folds of a table."""
    return [name for name, made in config.settings.items() if "fold" in made.block]


def fold_block(setting: Setting) -> str:
    """The input of a fold's spec besides the table, as JSON. Only the largest n counts: units are
    the same at every n."""
    return canonical_json({"longest": max(setting.n), "block": dict(setting.block)})


def folded(config: Config) -> list[str]:
    """Settings that have folds."""
    return [name for name, made in config.settings.items() if made.folds]


def model_modules(setting: Setting) -> list[str]:
    return sorted({f"models.{curve.module}" for curve in setting.curves})


def redrawn_mb(setting: Setting) -> int:
    """Memory of a fold's bootstrap: two sixth moments of x per cluster."""
    dim, _ = setting.shape
    moments = 2 * (dim * (dim + 1) // 2) ** 3
    return 500 + CLUSTERS * moments * 8 // 10**6
