# Needs a setting's block of the config. Makes its numbers, fully expanded. They are computed when the
# config is checked, so that an edit that does not change them reruns nothing.


rule spec:
    output:
        spec="data/specs/{setting}.json",
    log:
        "logs/specs/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.mixtures(CONFIG)),
    priority: FIRST
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        spec=lambda wildcards: jobs.spec_text(setting(wildcards)),
    shell:
        "(printf %s {params.spec:q} > {output.spec}.part && mv {output.spec}.part {output.spec})"
        " 2> {log}"
