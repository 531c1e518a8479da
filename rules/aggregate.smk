# Needs all runs of a setting. Makes the risks and parameters of the best seed of every curve point.


rule aggregate:
    input:
        spec="data/specs/{setting}.json",
        runs=lambda wildcards: jobs.run_files(CONFIG, "runs", **wildcards),
        parameters=lambda wildcards: jobs.run_files(CONFIG, "parameters", **wildcards),
    output:
        risks="data/{protocol}/risks/{setting}.parquet",
        parameters="data/{protocol}/parameters/{setting}.parquet",
    log:
        "logs/{protocol}/aggregate/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("aggregate.py"),
    shell:
        # bash's built-in printf has no limit on arguments, which thousands of names would exceed
        r"printf '%s\n' {input.runs} '' {input.parameters} | python {params.scripts:q}/aggregate.py"
        " --spec {input.spec} --risks {output.risks} --parameters {output.parameters} 2> {log}"
