# What the paper does not have. The Bayes-optimal risks need a spec. Studies, figures that vary a
# setting, need what the other figures do: specs and theory, for noise also risks.


rule bayes:
    input:
        script="scripts/bayes.py",
        library=library("spec", "bayes", "tables", "results"),
        spec="data/specs/{setting}.json",
    output:
        bayes="data/bayes/{setting}.parquet",
    log:
        "logs/bayes/{setting}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        n=lambda wildcards: sorted(cfg.setting(config, wildcards.setting)["n"]),
    shell:
        "python {input.script} --spec {input.spec} --n {params.n} --output {output.bayes} 2> {log}"


rule study:
    input:
        script="scripts/study.py",
        library=library(
            "spec",
            "theory",
            "results",
            "tables",
            "style",
            "describe",
            "gaps",
            "studies",
            "rates",
            "noise",
            "assumption1",
        ),
        specs=study_files("data/specs/{setting}.json", *studies.KINDS),
        risks=study_files(f"data/{PROTOCOL}/risks/{{setting}}.parquet", "noise"),
        theory=study_files("data/theory/{setting}.parquet", *studies.KINDS),
        bayes=study_bayes,
    output:
        pdf="figures/{study}.pdf",
        png=report(
            "figures/{study}.png",
            caption="../report/study.rst",
            category=lambda wildcards: cfg.report_section(config, wildcards.study),
            labels=lambda wildcards: {"figure": cfg.report_label(config, wildcards.study)},
        ),
    log:
        "logs/figures/{study}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        kind=lambda wildcards: studies.kind(config["figures"][wildcards.study]),
        note=study_note,
    shell:
        "python {input.script} --kind {params.kind} --note {params.note:q}"
        " --specs {input.specs} --risks {input.risks} --theory {input.theory}"
        " --bayes {input.bayes} --pdf {output.pdf} --png {output.png} 2> {log}"
