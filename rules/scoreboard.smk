# Needs risks and theory of all settings, and the authors' published risks. Makes the scoreboard,
# a row per trained curve, as a table, as Markdown, as a web page and as a heat map.


rule scoreboard:
    input:
        script="scripts/scoreboard.py",
        library=library("results", "tables", "published", "scoreboard", "scoretext"),
        risks=scored_files("data/{protocol}/risks/{setting}.parquet"),
        theory=scored_files("data/theory/{setting}.parquet", one_layer=True),
        published=PUBLISHED,
    output:
        table="data/{protocol}/scoreboard.parquet",
        markdown="data/{protocol}/scoreboard.md",
        page=report(
            "data/{protocol}/scoreboard.html",
            caption="../report/scoreboard.rst",
            category="Scoreboard",
            labels={"view": "Table of all curves"},
        ),
    log:
        "logs/{protocol}/scoreboard.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        curves=canonical_json(CURVES),
        note=scoreboard_note,
    shell:
        # on standard input, because an argument may not be longer than 128 KiB
        "printf %s {params.curves:q} | python {input.script} --note {params.note:q}"
        " --risks {input.risks} --theory {input.theory} --published {input.published}"
        " --table {output.table} --markdown {output.markdown} --page {output.page} 2> {log}"


rule heatmap:
    input:
        script="scripts/heatmap.py",
        library=library("results", "scoreboard", "scoretext", "style", "heatmap"),
        table=f"data/{PROTOCOL}/scoreboard.parquet",
    output:
        pdf="figures/scoreboard.pdf",
        png=report(
            "figures/scoreboard.png",
            caption="../report/heatmap.rst",
            category="Scoreboard",
            labels={"view": "Heat map of one-layer curves"},
        ),
    log:
        "logs/figures/scoreboard.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        note=cfg.describe_protocol(config, PROTOCOL, [1]),
    shell:
        "python {input.script} --table {input.table} --note {params.note:q}"
        " --pdf {output.pdf} --png {output.png} 2> {log}"
