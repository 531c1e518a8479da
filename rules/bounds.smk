# Needs the parameters of all settings with the same mixture. Makes the bounds of models without a
# theorem: comparisons with their special cases on common held-out contexts.


rule bounds:
    input:
        spec="data/specs/{setting}.json",
        parameters=lambda wildcards: expand(
            "data/{protocol}/parameters/{relative}.parquet",
            protocol=wildcards.protocol,
            relative=comparisons.relatives(CONFIG, wildcards.setting),
        ),
        bayes="data/bayes/{setting}.parquet",
    output:
        bounds="data/{protocol}/bounds/{setting}.parquet",
    log:
        "logs/{protocol}/bounds/{setting}.log",
    wildcard_constraints:
        setting=one_of(comparisons.bounded_settings(CONFIG)),
    conda:
        "../envs/pipeline.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * comparisons.mem_mb(setting(wildcards)),
        runtime=lambda wildcards, attempt: attempt * 60,
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("bounds.py", *comparisons.modules(CONFIG, wildcards.setting)),
        source=lambda wildcards: setting(wildcards).source,
        members=lambda wildcards: jobs.curves_text(comparisons.members(CONFIG, wildcards.setting)),
        contexts=lambda wildcards: comparisons.test_contexts(
            protocol(wildcards), setting(wildcards)
        ),
    shell:
        "python {params.scripts:q}/bounds.py --source {params.source} --spec {input.spec}"
        " --setting {wildcards.setting} --members {params.members:q}"
        " --contexts {params.contexts} --parameters {input.parameters} --bayes {input.bayes}"
        " --output {output.bounds} 2> {log}"
