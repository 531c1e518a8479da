# A setting in the config becomes a spec, a spec becomes runs (trained) and theory (computed),
# runs become risks, and risks and theory become figures and the scoreboard.

from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/specs.smk"
include: "rules/train.smk"
include: "rules/aggregate.smk"
include: "rules/theory.smk"
include: "rules/figures.smk"
include: "rules/beyond.smk"
include: "rules/scoreboard.smk"
include: "rules/docs.smk"


# Seconds each: on a cluster they stay with the main process, and only training is submitted.
localrules:
    all,
    spec,
    theory,
    aggregate,
    figure,
    bayes,
    study,
    scoreboard,
    heatmap,
    reproduction,


rule all:
    default_target: True
    input:
        expand("figures/{figure}.{format}", figure=[*FIGURES, "scoreboard"], format=["pdf", "png"]),
        expand(
            "data/{protocol}/scoreboard.{format}",
            protocol=PROTOCOL,
            format=["parquet", "md", "html"],
        ),
