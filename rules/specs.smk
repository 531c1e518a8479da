# Needs a setting's block of the config. Makes its numbers, fully expanded.


rule spec:
    input:
        script="scripts/specs.py",
        library=library("spec", "expand", "results"),
    output:
        spec="data/specs/{setting}.json",
    log:
        "logs/specs/{setting}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        block=lambda wildcards: canonical_json(cfg.mixture_block(config, wildcards.setting)),
    shell:
        "python {input.script} --name {wildcards.setting} --block {params.block:q}"
        " --output {output.spec} 2> {log}"
