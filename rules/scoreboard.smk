# Needs risks, theory and bounds of all settings, and the authors' published risks. Makes the
# scoreboard, a row per trained curve, as a table, as Markdown and as a web page.


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
            labels={"figure": "Table of all curves"},
        ),
    log:
        "logs/{protocol}/scoreboard.log",
    wildcard_constraints:
        # with archived results, archived/{protocol}
        protocol=one_of(f"{CONFIG.root}/{name}".removeprefix("data/") for name in CONFIG.protocols),
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("scoreboard.py", data=(PUBLISHED,)),
        published=PUBLISHED,
        curves=jobs.canonical_json(comparisons.scoreboard_rows(CONFIG)),
        note=lambda wildcards: CONFIG.note(comparisons.scored_curves(CONFIG), protocol(wildcards)),
    shell:
        # on standard input, because an argument may not be longer than 128 KiB
        "printf %s {params.curves:q} | python {params.scripts:q}/scoreboard.py"
        " --note {params.note:q} --risks {input.risks} --theory {input.theory}"
        " --bounds {input.bounds} --published {params.published:q} --table {output.table}"
        " --markdown {output.markdown} --page {output.page} 2> {log}"
