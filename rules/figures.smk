# Needs what a figure's kind asks for, of the settings on it. Makes the figure, as PDF and PNG.


rule figure:
    input:
        specs=lambda wildcards: [
            f"data/specs/{name}.json" for name in figure(wildcards).needs(CONFIG).get("specs", ())
        ],
        tables=lambda wildcards: [
            file
            for files in jobs.figure_files(CONFIG, wildcards.figure).values()
            for file in files
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
        counts=lambda wildcards: [
            f"{table}={len(files)}"
            for table, files in jobs.figure_files(CONFIG, wildcards.figure).items()
        ],
    shell:
        "python {params.scripts:q}/figure.py --kind {params.kind} --drawing {params.drawing:q}"
        " --note {params.note:q} --specs {input.specs}"
        " --counts {params.counts:q} --tables {input.tables}"
        " --published {params.published:q} --pdf {output.pdf} --png {output.png} 2> {log}"
