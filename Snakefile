# A setting in the config becomes a spec, a spec becomes runs (trained) and theory (computed),
# runs become risks, and risks and theory become figures and the scoreboard.

from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")

ROOT = Path(workflow.current_basedir)  # the clone; results go to where Snakemake runs
OWN_CONFIG = Path("config/config.yaml")
IS_MAIN = Path(workflow.main_snakefile).parent == ROOT  # and not a module of another workflow


configfile: str(OWN_CONFIG if IS_MAIN and OWN_CONFIG.exists() else ROOT / OWN_CONFIG)


report: "report/workflow.rst"


include: "rules/common.smk"


rule all:
    input:
        expand(
            "figures/{figure}.{format}",
            figure=CONFIG.figures,
            format=["pdf", "png", "json"],
        ),
        expand(
            "{root}/{protocol}/scoreboard.{format}",
            root=CONFIG.root,
            protocol=CONFIG.protocol.name,
            format=["parquet", "md", "html"],
        ),
        "explorer.html",
    localrule: True


include: "rules/specs.smk"
include: "rules/tables.smk"
include: "rules/train.smk"
include: "rules/aggregate.smk"
include: "rules/archive.smk"
include: "rules/verify.smk"
include: "rules/theory.smk"
include: "rules/bounds.smk"
include: "rules/softmax.smk"
include: "rules/figures.smk"
include: "rules/scoreboard.smk"
include: "rules/explorer.smk"
include: "rules/docs.smk"
include: "rules/start.smk"
