# Checks the config, and says which files there are.

import csv
import json
import os
import re
import sys
from functools import cache
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

# `python` in a rule is the one Snakemake runs in, also where its environment is not activated; a
# conda environment, activated later, still comes first.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))

# The library is used in place, so that a clone needs no installation step of its own.
sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))
from decoupling import config as cfg
from decoupling import studies
from decoupling.checks import problems

PUBLISHED = "data/published/authors_risks.csv"
with open(Path(workflow.basedir) / "config" / "schema.yaml") as schema_file:
    schema = yaml.safe_load(schema_file)
with open(Path(workflow.basedir) / PUBLISHED) as published_file:
    rows = csv.DictReader(published_file)
    overlays = {(r["setting"], r["arm"]) for r in rows if r["model"] == "attention"}
found = problems(config, schema, overlays)
if found:
    raise WorkflowError("The config has problems:\n" + "\n".join(found))

PROTOCOL = config["protocol"]
FIGURES = cfg.figure_names(config)
STUDIES = studies.study_names(config)
CURVES = cfg.curves(config)
CONTEXTS_PER_MINUTE = 5e6  # one core, three arms of three layers: 7e6 were measured


def one_of(names):
    """A pattern of these names; of nothing, where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    protocol=one_of(config["protocols"]),
    setting=one_of(cfg.settings(config)),
    figure=one_of(name for name in FIGURES if name not in STUDIES),
    study=one_of(STUDIES),
    n=r"\d+",
    first=r"\d+",
    last=r"\d+",


def library(*modules):
    """Modules as inputs, so that an edit reruns the jobs that used them and nothing else."""
    return [f"scripts/decoupling/{module}.py" for module in ("__init__", *modules)]


@cache
def training_tasks(protocol, setting):
    """What a protocol trains for a setting. Every training job asks, several times."""
    return cfg.training_tasks(config, protocol, setting)


def seed_blocks(protocol, setting):
    """(first, last) of each block of seeds that a protocol trains for a setting."""
    seeds = max(task["seeds"] for task in training_tasks(protocol, setting))
    size = config["protocols"][protocol]["seeds_per_job"]
    return [(first, min(first + size, seeds) - 1) for first in range(0, seeds, size)]


def block_tasks(wildcards):
    """What a block of seeds trains. Only what concerns the block is in it, so that asking for more
    seeds leaves the blocks that are there alone."""
    tasks = training_tasks(wildcards.protocol, wildcards.setting)
    first, end = int(wildcards.first), int(wildcards.last) + 1
    return canonical_json(
        [task | {"seeds": min(task["seeds"], end)} for task in tasks if task["seeds"] > first]
    )


def train_mem_mb(wildcards, attempt):
    """Memory of a training job: for d = 10, 50 seeds take up to 370 MB in one layer, 890 MB in
    more."""
    tasks = training_tasks(wildcards.protocol, wildcards.setting)
    base = 2000 if any(task["layers"] > 1 for task in tasks) else 1000
    return attempt * (base + moments_mb(wildcards.setting))


@cache
def moments_mb(setting):
    """What grows with d: the fourth moments, and tables on the way to them, four a task."""
    block = cfg.setting(config, setting)
    return round(4 * len(block["weights"]) * 8 * (block["d"] + 1) ** 4 / 1e6)


def train_minutes(wildcards, attempt):
    """Time limit of a training job. Each attempt goes on from the last one's checkpoint, so that
    none needs to ask for more than a day, the limit of many a partition."""
    base = 30 + max(
        _contexts(task) / CONTEXTS_PER_MINUTE
        for task in training_tasks(wildcards.protocol, wildcards.setting)
    )
    return min(round(attempt * base), 24 * 60)


def train_gpus(wildcards):
    """A GPU for a protocol that trains on one; None asks for nothing."""
    return 1 if device(wildcards) == "cuda" else None


def device(wildcards):
    return config["protocols"][wildcards.protocol].get("device", "cpu")


def _contexts(task):
    """How many contexts training goes through: one layer's seeds share them."""
    recipe = task["recipe"]
    if recipe["gradient"] == "exact":
        return 0
    shared = recipe["iterations"] * recipe["gradient"]
    return shared if task["layers"] == 1 else shared * task["seeds"]


def run_files(wildcards):
    return [
        f"data/{wildcards.protocol}/runs/{wildcards.setting}/n{n}/seeds{first}-{last}.parquet"
        for n in cfg.setting(config, wildcards.setting)["n"]
        for first, last in seed_blocks(wildcards.protocol, wildcards.setting)
    ]


def figure_files(pattern, computed=False):
    """Input function: a file per setting on a figure; or only per setting with computed curves."""

    def files(wildcards):
        figure = cfg.figure(config, wildcards.figure)
        settings = {
            panel["setting"]
            for panel in figure["panels"]
            if not computed
            or figure["layout"] == "overview"
            or panel["dashed"] in ("theorem", "optimum")
        }
        return [pattern.format(setting=setting) for setting in sorted(settings)]

    return files


def bayes_files(wildcards):
    """The Bayes-optimal risks, where a panel of the figure shows them."""
    panels = cfg.figure(config, wildcards.figure)["panels"]
    shown = {panel["setting"] for panel in panels if panel["bayes"]}
    return [f"data/bayes/{setting}.parquet" for setting in sorted(shown)]


def overlaid_risks(wildcards):
    """The authors' risks, where a panel of the figure shows them."""
    panels = cfg.figure(config, wildcards.figure)["panels"]
    return [PUBLISHED] if any(panel["overlay"] == "published" for panel in panels) else []


def study_files(pattern, *kinds):
    """Input function: a file per setting of a study of one of these kinds."""

    def files(wildcards):
        if studies.kind(config["figures"][wildcards.study]) not in kinds:
            return []
        varied = studies.varied_settings(config, wildcards.study)
        return [pattern.format(setting=setting) for setting in varied]

    return files


def study_bayes(wildcards):
    """The Bayes-optimal risks, where a study shows them."""
    shown = config["figures"][wildcards.study].get("bayes", False)
    return study_files("data/bayes/{setting}.parquet", "noise")(wildcards) if shown else []


def study_note(wildcards):
    trained = studies.kind(config["figures"][wildcards.study]) == "noise"
    return cfg.describe_protocol(config, PROTOCOL, [1]) if trained else "Computed, not trained"


def scored_files(pattern, one_layer=False):
    """Input function: a file per setting on the scoreboard; or only per setting with one layer."""
    settings = {curve["setting"] for curve in CURVES if not one_layer or curve["layers"] == 1}

    def files(wildcards):
        return [pattern.format(setting=setting, **wildcards) for setting in sorted(settings)]

    return files


def scoreboard_note(wildcards):
    layers = [curve["layers"] for curve in CURVES]
    return cfg.describe_protocol(config, wildcards.protocol, layers)


def rates_theory(wildcards):
    """Asked for with the page only: a config may do without the figure of rates."""
    settings = studies.varied_settings(config, "rates")
    return expand("data/theory/{setting}.parquet", setting=settings)


def canonical_json(value):
    """One text for one value: recorded as a parameter, it changes only if the value does."""
    return json.dumps(value, sort_keys=True)
