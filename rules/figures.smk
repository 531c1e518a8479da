# Needs what a figure's kind asks for, of the settings on it. Makes the figure, as PDF and PNG.


rule figure:
    input:
        specs=needed("specs", "data/specs/{setting}.json"),
        risks=needed("risks", f"data/{CONFIG.protocol.name}/risks/{{setting}}.parquet"),
        theory=needed("theory", "data/theory/{setting}.parquet"),
        bayes=needed("bayes", "data/bayes/{setting}.parquet"),
        more=lambda wildcards: [
            file for files in figure(wildcards).needs(CONFIG).more.values() for file in files
        ],
    output:
        pdf="figures/{figure}.pdf",
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category=lambda wildcards: figure(wildcards).block.get("section", "Own settings"),
            labels=lambda wildcards: {"figure": figure(wildcards).report_label},
        ),
    log:
        "logs/figures/{figure}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code(
            "figure.py", f"figures.{figure(wildcards).kind}", data=(overlaid(wildcards),)
        ),
        published=overlaid,
        kind=lambda wildcards: figure(wildcards).kind,
        drawing=lambda wildcards: jobs.canonical_json(figure(wildcards).drawing(CONFIG)),
        note=lambda wildcards: figure(wildcards).note(CONFIG),
        more=lambda wildcards: [
            f"{name}={file}"
            for name, files in figure(wildcards).needs(CONFIG).more.items()
            for file in files
        ],
    shell:
        "python {params.scripts:q}/figure.py --kind {params.kind} --drawing {params.drawing:q}"
        " --note {params.note:q} --specs {input.specs} --risks {input.risks}"
        " --theory {input.theory} --bayes {input.bayes} --published {params.published:q}"
        " --more {params.more} --pdf {output.pdf} --png {output.png} 2> {log}"
