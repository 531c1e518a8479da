# Needs a spec. Makes the curves that are computed: Theorems 1–4 and the exact optimum.


rule theory:
    input:
        script="scripts/theory.py",
        library=library(
            "spec",
            "recipes",
            "sampling",
            "moments",
            "risk",
            "theory",
            "optimum",
            "curves",
            "tables",
            "results",
        ),
        spec="data/specs/{setting}.json",
    output:
        theory="data/theory/{setting}.parquet",
    log:
        "logs/theory/{setting}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        n=lambda wildcards: sorted(cfg.setting(config, wildcards.setting)["n"]),
    shell:
        "python {input.script} --spec {input.spec} --n {params.n} --output {output.theory} 2> {log}"
