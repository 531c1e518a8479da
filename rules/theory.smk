# Needs a spec. Makes what is computed, not trained: Theorems 1–4 and the exact optimum; and, where
# a figure asks for it, the Bayes-optimal risk.


rule theory:
    input:
        spec="data/specs/{setting}.json",
    output:
        theory="data/theory/{setting}.parquet",
    log:
        "logs/theory/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("theory.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/theory.py --spec {input.spec} --n {params.n}"
        " --output {output.theory} 2> {log}"


rule bayes:
    input:
        spec="data/specs/{setting}.json",
    output:
        bayes="data/bayes/{setting}.parquet",
    log:
        "logs/bayes/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("bayes.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/bayes.py --spec {input.spec} --n {params.n}"
        " --output {output.bayes} 2> {log}"
