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
    threads: 1
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code(
            "figure.py", f"figures.{figure(wildcards).kind}", data=(overlaid(wildcards),)
        ),
        published=overlaid,
        kind=lambda wildcards: figure(wildcards).kind,
        plot_spec=lambda wildcards: jobs.canonical_json(figure(wildcards).plot_spec(CONFIG)),
        note=lambda wildcards: figure(wildcards).note(CONFIG),
        optimum=lambda wildcards: jobs.canonical_json(
            comparisons.optimum_curves(figure(wildcards), CONFIG)
        ),
        remedy=lambda wildcards: comparisons.remedy(figure(wildcards), CONFIG),
        about=lambda wildcards: provenance.of_figure(CONFIG, wildcards.figure),
        # not the paths themselves, which are elsewhere where a storage provider keeps the files
        counts=lambda wildcards: jobs.canonical_json(
            {t: len(files) for t, files in jobs.figure_files(CONFIG, wildcards.figure).items()}
        ),
    shell:
        # on standard input, as it can be long
        "printf %s {params.about:q} |"
        " python {params.scripts:q}/figure.py --kind {params.kind} --plot-spec {params.plot_spec:q}"
        " --note {params.note:q} --specs {input.specs}"
        " --counts {params.counts:q} --tables {input.tables}"
        " --optimum {params.optimum:q} --remedy {params.remedy:q}"
        " --published {params.published:q} --code {params.code} --pdf {output.pdf}"
        " --png {output.png} --provenance {output.provenance} 2> {log}"
