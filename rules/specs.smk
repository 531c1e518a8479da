# Needs a setting's block of the config. Makes its numbers, fully expanded.


rule spec:
    output:
        spec="data/specs/{setting}.json",
    log:
        "logs/specs/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("specs.py", f"sources.{setting(wildcards).source}.block"),
        source=lambda wildcards: setting(wildcards).source,
        block=lambda wildcards: jobs.canonical_json(setting(wildcards).block),
    shell:
        "python {params.scripts:q}/specs.py --source {params.source} --name {wildcards.setting}"
        " --block {params.block:q} --output {output.spec} 2> {log}"
