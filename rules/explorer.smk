# Needs specs and Bayes-optimal risks of the settings that the explorer can show, archived results
# (data/archive) and the authors' risks. Makes explorer.html, a page to play with the theorems.

EXPLORED = comparisons.explored_settings(CONFIG)
EXPLORER = ROOT / "explorer"
ARCHIVED_RISKS = ARCHIVE / "laptop.parquet"


rule explorer:
    input:
        specs=expand("data/specs/{setting}.json", setting=EXPLORED),
        bayes=expand("{root}/bayes/{setting}.parquet", root=CONFIG.root, setting=EXPLORED),
    output:
        # linked from the report, not in it: browsers do not open such long data inside a page
        page="explorer.html",
    log:
        "logs/explorer.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("explorer.py", data=(*sorted(EXPLORER.glob("*.*")), ARCHIVED_RISKS, PUBLISHED)),
        parts=EXPLORER,
        archived=ARCHIVED_RISKS,
        published=PUBLISHED,
        presets=jobs.canonical_json(comparisons.explorer_presets(CONFIG)),
    shell:
        "printf %s {params.presets:q} | python {params.scripts:q}/explorer.py"
        " --parts {params.parts:q} --specs {input.specs} --bayes {input.bayes}"
        " --archived {params.archived:q} --published {params.published:q} --output {output.page} 2> {log}"
