# Needs risks and theory of the settings on a figure. Makes the figure, as PDF and PNG.


rule figure:
    input:
        script="scripts/figure.py",
        library=library("spec", "results", "tables", "published", "style", "describe", "plotting"),
        specs=figure_files("data/specs/{setting}.json"),
        risks=figure_files(f"data/{PROTOCOL}/risks/{{setting}}.parquet"),
        theory=figure_files("data/theory/{setting}.parquet", computed=True),
        published=overlaid_risks,
        bayes=bayes_files,
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category=lambda wildcards: cfg.report_section(config, wildcards.figure),
            labels=lambda wildcards: {"figure": cfg.report_label(config, wildcards.figure)},
        ),
    log:
        "logs/figures/{figure}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        figure=lambda wildcards: canonical_json(cfg.figure(config, wildcards.figure)),
        note=lambda wildcards: cfg.protocol_note(config, wildcards.figure),
    shell:
        "python {input.script} --figure {params.figure:q} --note {params.note:q}"
        " --specs {input.specs} --risks {input.risks} --theory {input.theory}"
        " --published {input.published} --bayes {input.bayes}"
        " --pdf {output.pdf} --png {output.png} 2> {log}"
