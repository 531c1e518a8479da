# Needs all runs of a setting. Makes its risks: the best seed of every curve point.


rule aggregate:
    input:
        script="scripts/aggregate.py",
        library=library("spec", "results", "tables", "aggregate"),
        spec="data/specs/{setting}.json",
        runs=run_files,
    output:
        risks="data/{protocol}/risks/{setting}.parquet",
    log:
        "logs/{protocol}/aggregate/{setting}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    shell:
        # bash's own printf knows no limit on arguments, which thousands of names would reach
        r"printf '%s\n' {input.runs} | python {input.script} --spec {input.spec}"
        " --output {output.risks} 2> {log}"
