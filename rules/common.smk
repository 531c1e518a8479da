# Reads the config, and makes digests of the code of jobs. Rules with `localrule` take seconds and stay
# with the main process on a cluster; training, bounds and bootstraps are submitted.

import os
import re
import sys
from functools import cache

from snakemake.exceptions import WorkflowError

# `python` in rules is Snakemake's, also if its environment is not activated. A conda environment is
# activated later, and so comes first.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))

# The library is used in place, so that a clone needs no installation.
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
from decoupling.errors import InputError
from decoupling.figures.prompt_share import PromptShare
from decoupling.plan import archived, comparisons, drawing, duration, gallery, jobs
from decoupling.plan.code import code_digest
from decoupling.plan.read import load, of_clone

# Files of the clone are not inputs but parameters, as digests: a clone can be moved, and results can
# be elsewhere, without a rerun. (Snakemake records texts as parameters, but no Paths.)
PUBLISHED = ROOT / "data/published/authors_risks.csv"
ARCHIVE = ROOT / "data/archive"
UNARCHIVED = {}  # problems of tables that are asked for, each with the command that makes the table

try:
    CONFIG = load(config, **of_clone(ROOT))
except InputError as error:
    raise WorkflowError(f"The config has problems:\n{error}") from None


def command(**changes):
    """Snakemake's command line without targets, with the config as it is given, and changes."""
    active = {"protocol": CONFIG.protocol.name}
    if CONFIG.results != "train":
        active["results"] = CONFIG.results
    given = (active if IS_MAIN else {}) | dict(workflow.config_settings.config)
    files = workflow.config_settings.configfiles
    return drawing.command(workflow.main_snakefile, files, given | changes)


# The command that makes a figure again, for its provenance. It is in the environment of jobs: as a
# parameter, it would redraw figures when the same config is given in another way.
os.environ.update(REMADE_BY=command())

FIRST = 10**12  # priority of jobs before training, so that the longest training can start first


def one_of(names):
    """A pattern that matches these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    protocol=one_of(CONFIG.protocols),
    setting=one_of(CONFIG.settings),
    figure=one_of(CONFIG.figures),
    n=r"\d+",
    first=r"\d+",
    last=r"\d+",


def setting(wildcards):
    return CONFIG.settings[wildcards.setting]


def protocol(wildcards):
    return CONFIG.protocols[wildcards.protocol.rpartition("/")[2]]


def figure(wildcards):
    return CONFIG.figures[wildcards.figure]


def longest_first(wildcards):
    """The priority of a training."""
    return duration.priority(protocol(wildcards), setting(wildcards), int(wildcards.n))


@cache
def code(script, *loaded, data=()):
    """Digest of a script, of the library's modules that it uses, and of files of the clone."""
    return code_digest(SCRIPTS / script, *loaded, data=filter(None, data))


def overlaid(wildcards):
    """The file of the authors' risks, if a figure shows them."""
    return PUBLISHED if figure(wildcards).needs(CONFIG).get("published") else ""


def scored(pattern, settings):
    """Input function: a file per setting of the scoreboard."""
    return lambda wildcards: [pattern.format(setting=name, **wildcards) for name in settings]


def of_folds(pattern):
    """Input function: a file per fold of a setting."""
    return lambda wildcards: [
        pattern.format(setting=name, protocol=wildcards.protocol)
        for name in setting(wildcards).folds
    ]


def archived_file(wildcards):
    found = archived.source(CONFIG, **wildcards)["file"]
    return ARCHIVE / f"{found}.parquet" if found else None


def unarchived(wildcards):
    """The reason why a table cannot be drawn, and what makes it instead; empty if it can."""
    made = "data/{folder}/{name}.parquet".format(**wildcards)
    if problem := archived.problem(CONFIG, **wildcards):
        UNARCHIVED[made] = f"results: {problem}; make it: {command(results='train')} -- {made}"
    return UNARCHIVED.get(made, "")


def shown_if_unarchived(wildcards):
    """No file. The workflow asks when it plans its jobs, in a dry run too."""
    if line := unarchived(wildcards):
        logger.error(line)
    return []
