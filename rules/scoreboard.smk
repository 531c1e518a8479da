# Needs risks, theory and bounds of all settings, and the authors' published risks. Makes the scoreboard,
# a row per trained curve, as a table, as Markdown, as a web page and as a heat map.


rule scoreboard:
    input:
        risks=scored("data/{protocol}/risks/{setting}.parquet", comparisons.scored_settings(CONFIG)),
        theory=scored(
            "data/theory/{setting}.parquet",
            comparisons.scored_settings(CONFIG, with_references=True),
        ),
        bounds=scored(
            "data/{protocol}/bounds/{setting}.parquet", comparisons.bounded_settings(CONFIG)
        ),
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
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("scoreboard.py", data=(PUBLISHED,)),
        published=PUBLISHED,
        curves=jobs.canonical_json(comparisons.scoreboard_rows(CONFIG)),
        note=lambda wildcards: protocol(wildcards).note(comparisons.scored_curves(CONFIG)),
    shell:
        # on standard input, because an argument may not be longer than 128 KiB
        "printf %s {params.curves:q} | python {params.scripts:q}/scoreboard.py"
        " --note {params.note:q} --risks {input.risks} --theory {input.theory}"
        " --bounds {input.bounds} --published {params.published:q} --table {output.table}"
        " --markdown {output.markdown} --page {output.page} 2> {log}"


rule heatmap:
    input:
        table=f"data/{CONFIG.protocol.name}/scoreboard.parquet",
    output:
        pdf="figures/scoreboard.pdf",
        png=report(
            "figures/scoreboard.png",
            caption="../report/heatmap.rst",
            category="Scoreboard",
            labels={"view": "Heat map of one-layer curves"},
        ),
        provenance="figures/scoreboard.json",
    log:
        "logs/figures/scoreboard.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("heatmap.py"),
        note=CONFIG.protocol.note(comparisons.scored_curves(CONFIG, with_references=True)),
        about=provenance.of_curves(
            CONFIG,
            comparisons.scored_settings(CONFIG, with_references=True),
            comparisons.scored_curves(CONFIG, with_references=True),
            "heatmap",
        ),
    shell:
        # on standard input, as it can be long
        "printf %s {params.about:q} |"
        " python {params.scripts:q}/heatmap.py --table {input.table} --note {params.note:q}"
        " --code {params.code} --pdf {output.pdf} --png {output.png}"
        " --provenance {output.provenance} 2> {log}"
