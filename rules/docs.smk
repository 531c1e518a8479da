# Needs kept results (data/reference), theory and the authors' risks. Makes the tables of
# docs/reproduction.md, between its markers; the text around them is written by hand.

PAGE_SETTINGS = sorted({s for page in jobs.pages.page_settings(CONFIG).values() for s in page})
KEPT = ROOT / "data/reference"


rule page_tables:
    input:
        theory=expand(
            "data/theory/{setting}.parquet",
            setting=[*PAGE_SETTINGS, "shared", "softmax_clean", "softmax_noisy", "transformer"],
        ),
        # asked for with the page only: a config may do without these figures
        sampled=lambda wildcards: CONFIG.figures["mixtures"].needs(CONFIG).more["sampled"],
        identity=lambda wildcards: CONFIG.figures["identity"].needs(CONFIG).more["identity"],
    output:
        page=update("docs/reproduction.md"),
    log:
        "logs/docs/page_tables.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code("page_tables.py", data=(PUBLISHED, *sorted(KEPT.glob("*.*")))),
        page=ROOT / "docs/reproduction.md",
        kept=KEPT,
        published=PUBLISHED,
    shell:
        "python {params.scripts:q}/page_tables.py --page {params.page:q} --kept {params.kept:q}"
        " --theory {input.theory} --sampled {input.sampled} --identity {input.identity}"
        " --published {params.published:q} --output {output.page} 2> {log}"
