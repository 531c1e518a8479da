# Needs risks and theory of all settings, and the authors' published risks. Makes the scoreboard,
# a row per trained curve, as a table, as Markdown and as a heat map.


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
    log:
        "logs/{protocol}/scoreboard.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        curves=canonical_json(CURVES),
        note=scoreboard_note,
    shell:
        "python {input.script} --curves {params.curves:q} --note {params.note:q}"
        " --risks {input.risks} --theory {input.theory} --published {input.published}"
        " --table {output.table} --markdown {output.markdown} 2> {log}"


rule heatmap:
    input:
        script="scripts/heatmap.py",
        library=library("results", "scoreboard", "scoretext", "style", "heatmap"),
        table=f"data/{PROTOCOL}/scoreboard.parquet",
    output:
        pdf="figures/scoreboard.pdf",
        png="figures/scoreboard.png",
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
