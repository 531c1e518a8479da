# Needs a table of real data: a user's file, or one that rule `table` makes from a package. Makes for
# each fold of units a spec, predicted risks with their bootstrap, and held-out risks; then a summary
# of all folds.


rule table:
    output:
        table="data/tables/{table}.csv",
    log:
        "logs/tables/{table}.log",
    wildcard_constraints:
        table=one_of(jobs.MADE),
    priority: FIRST
    localrule: True
    conda:
        "../envs/tables.yaml"
    params:
        scripts=SCRIPTS,
        code=code("table.py"),
    shell:
        "python {params.scripts:q}/table.py --name {wildcards.table} --output {output.table} 2> {log}"


rule fold:
    input:
        table=lambda wildcards: jobs.source_files(setting(wildcards)),
    output:
        spec="data/specs/{setting}.json",
    log:
        "logs/specs/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.folds(CONFIG)),
    priority: FIRST
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("fold.py"),
        fold=lambda wildcards: jobs.fold_block(setting(wildcards)),
    shell:
        "python {params.scripts:q}/fold.py --setting {wildcards.setting} --fold {params.fold:q}"
        " --output {output.spec} 2> {log}"


rule fold_theory:
    input:
        spec="data/specs/{setting}.json",
    output:
        theory="data/theory/{setting}.parquet",
    log:
        "logs/theory/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.folds(CONFIG)),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("fold_theory.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/fold_theory.py --spec {input.spec} --n {params.n}"
        " --output {output.theory} 2> {log}"


rule fold_redrawn:
    input:
        spec="data/specs/{setting}.json",
        table=lambda wildcards: jobs.source_files(setting(wildcards)),
    output:
        redrawn="data/redrawn/{setting}.parquet",
    log:
        "logs/redrawn/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.folds(CONFIG)),
    priority: FIRST  # before trainings, which are of little use if its gate fails
    conda:
        "../envs/pipeline.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * jobs.redrawn_mb(setting(wildcards)),
        runtime=lambda wildcards, attempt: attempt * 60,
    params:
        scripts=SCRIPTS,
        code=code("fold_redrawn.py"),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/fold_redrawn.py --spec {input.spec} --table {input.table:q}"
        " --n {params.n} --output {output.redrawn} 2> {log}"


rule held_out:
    input:
        spec="data/specs/{setting}.json",
        table=lambda wildcards: jobs.source_files(setting(wildcards)),
        parameters="data/{protocol}/parameters/{setting}.parquet",
    output:
        held_out="data/{protocol}/held_out/{setting}.parquet",
    log:
        "logs/{protocol}/held_out/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.folds(CONFIG)),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("held_out.py", *jobs.model_modules(setting(wildcards))),
        predictors=lambda wildcards: jobs.curves_text(setting(wildcards).curves),
        n=lambda wildcards: sorted(setting(wildcards).n),
    shell:
        "python {params.scripts:q}/held_out.py --spec {input.spec} --table {input.table:q}"
        " --parameters {input.parameters} --predictors {params.predictors:q} --n {params.n}"
        " --output {output.held_out} 2> {log}"


rule real:
    input:
        specs=of_folds("data/specs/{setting}.json"),
        risks=of_folds("data/{protocol}/risks/{setting}.parquet"),
        theory=of_folds("data/theory/{setting}.parquet"),
        redrawn=of_folds("data/redrawn/{setting}.parquet"),
        held_out=of_folds("data/{protocol}/held_out/{setting}.parquet"),
    output:
        real="data/{protocol}/real/{setting}.parquet",
    log:
        "logs/{protocol}/real/{setting}.log",
    wildcard_constraints:
        setting=one_of(jobs.folded(CONFIG)),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("real.py"),
    shell:
        "python {params.scripts:q}/real.py --setting {wildcards.setting} --specs {input.specs}"
        " --risks {input.risks} --theory {input.theory} --redrawn {input.redrawn}"
        " --held-out {input.held_out} --output {output.real} 2> {log}"
