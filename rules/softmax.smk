# Needs the parameters of softmax attention. Makes the prompts' share of its attention.


rule prompt_share:
    input:
        spec="data/specs/{setting}.json",
        parameters="data/{protocol}/parameters/{setting}.parquet",
    output:
        shares="data/{protocol}/prompt_share/{setting}.parquet",
    log:
        "logs/{protocol}/prompt_share/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("prompt_share.py", *jobs.modules(setting(wildcards))),
        source=lambda wildcards: setting(wildcards).source,
        members=lambda wildcards: jobs.curves_text(PromptShare.prompted_curves(setting(wildcards))),
    shell:
        "python {params.scripts:q}/prompt_share.py --source {params.source} --spec {input.spec}"
        " --members {params.members:q} --parameters {input.parameters}"
        " --output {output.shares} 2> {log}"
