# Needs all runs of a setting. Makes its risks: the best seed of every curve point.


rule aggregate:
    input:
        spec="data/specs/{setting}.json",
        runs=lambda wildcards: jobs.run_files(CONFIG, wildcards.protocol, wildcards.setting),
    output:
        risks="data/{protocol}/risks/{setting}.parquet",
    log:
        "logs/{protocol}/aggregate/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("aggregate.py"),
    shell:
        # bash's own printf knows no limit on arguments, which thousands of names would reach
        r"printf '%s\n' {input.runs} | python {params.scripts:q}/aggregate.py"
        " --spec {input.spec} --output {output.risks} 2> {log}"
