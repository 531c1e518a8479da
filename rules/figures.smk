# Needs the tables that a figure is drawn from. Makes the figure, as PDF and PNG, and a file that says
# where it comes from.


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
        provenance="figures/{figure}.json",
    log:
        "logs/figures/{figure}.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code(
            "figure.py", f"figures.{figure(wildcards).kind}", data=(overlaid(wildcards),)
        ),
        published=overlaid,
        told=lambda wildcards: drawing.told(CONFIG, wildcards.figure),
        # for the report:
        kind=lambda wildcards: figure(wildcards).kind,
        note=lambda wildcards: figure(wildcards).note(CONFIG),
    shell:
        # on standard input, as it can be long
        "printf %s {params.told:q} | python {params.scripts:q}/figure.py"
        " --specs {input.specs} --tables {input.tables}"
        " --published {params.published:q} --code {params.code} --pdf {output.pdf}"
        " --png {output.png} --provenance {output.provenance} 2> {log}"
