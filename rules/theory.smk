# Needs a spec. Makes computed risks: closed forms and the numerical optimum; for figures and bounds
# that need them, also the Bayes-optimal risk and the value of knowing the task. Random mixtures need
# no spec. Jobs that are long or need much memory are submitted to a cluster, by rules with `_large`.


rule theory:
    input:
        spec="data/specs/{setting}.json",
    output:
        theory="data/theory/{setting}.parquet",
    log:
        "logs/theory/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.computed(CONFIG, "theory", large=False)),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    resources:
        mem_mb=lambda wildcards: jobs.theory_mb(setting(wildcards)),
    params:
        scripts=SCRIPTS,
        code=code("theory.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/theory.py --spec {input.spec} --n {params.n}"
        " --output {output.theory} 2> {log}"


use rule theory as theory_large with:
    wildcard_constraints:
        setting=one_of(jobs.computed(CONFIG, "theory", large=True)),
    localrule: False
    resources:
        mem_mb=lambda wildcards, attempt: attempt * jobs.theory_mb(setting(wildcards)),
        runtime=lambda wildcards, attempt: attempt
        * (10 + round(jobs.theory_minutes(setting(wildcards)))),


rule bayes:
    input:
        spec="data/specs/{setting}.json",
    output:
        bayes="data/bayes/{setting}.parquet",
    log:
        "logs/bayes/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.computed(CONFIG, "bayes", large=False)),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    resources:
        mem_mb=lambda wildcards: jobs.bayes_mb(setting(wildcards)),
    params:
        scripts=SCRIPTS,
        code=code("bayes.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/bayes.py --spec {input.spec} --n {params.n}"
        " --output {output.bayes} 2> {log}"


use rule bayes as bayes_large with:
    wildcard_constraints:
        setting=one_of(jobs.computed(CONFIG, "bayes", large=True)),
    localrule: False
    resources:
        mem_mb=lambda wildcards, attempt: attempt * jobs.bayes_mb(setting(wildcards)),
        runtime=lambda wildcards, attempt: attempt
        * (10 + round(jobs.bayes_minutes(setting(wildcards)))),


rule identity:
    input:
        spec="data/specs/{setting}.json",
    output:
        identity="data/identity/{setting}.parquet",
    log:
        "logs/identity/{setting}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("identity.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/identity.py --spec {input.spec} --n {params.n}"
        " --output {output.identity} 2> {log}"


rule sample:
    output:
        sampled="data/sampled/{figure}/{first}-{last}.parquet",
    log:
        "logs/sampled/{figure}/{first}-{last}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("sample.py"),
        seed=lambda wildcards: figure(wildcards).block["seed"],
    shell:
        "python {params.scripts:q}/sample.py --seed {params.seed}"
        " --mixtures {wildcards.first} {wildcards.last} --output {output.sampled} 2> {log}"
