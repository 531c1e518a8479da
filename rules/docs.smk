# Needs archived results, theory and the authors' risks. Makes the tables of the docs, between
# their markers (the text around them is written by hand), and archived points as CSV files. Needs all
# figures. Makes docs/gallery.md.

DOCS = ["docs/findings.md", "docs/training.md", "docs/performance.md"]  # those with tables
POINTS = [
    f"data/archive/points/{name}.csv" for name in ("points", "real", "identity", "prompt_share")
]


rule page_tables:
    input:
        theory=expand(
            "data/theory/{setting}.parquet",
            setting=[
                *comparisons.page_settings(CONFIG),
                *("shared", "softmax_clean", "softmax_noisy", "transformer"),
            ],
        ),
    output:
        pages=update(DOCS),
        points=POINTS,
    log:
        "logs/docs/page_tables.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("page_tables.py", data=(PUBLISHED, *sorted(ARCHIVE.glob("*.*")))),
        pages=[ROOT / page for page in DOCS],
        archive=ARCHIVE,
        published=PUBLISHED,
    shell:
        "python {params.scripts:q}/page_tables.py --pages {params.pages:q} --archive {params.archive:q}"
        " --theory {input.theory} --published {params.published:q}"
        " --output {output.pages} --csv data/archive/points 2> {log}"


# All figures as small pictures, with what to see in each. `make gallery` draws them from the archive.
rule gallery:
    input:
        figures=expand("figures/{figure}.png", figure=CONFIG.figures),
    output:
        page="docs/gallery.md",
        pictures=expand("docs/gallery/{figure}.png", figure=CONFIG.figures),
    log:
        "logs/docs/gallery.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=code("gallery.py"),
        protocol=CONFIG.protocol.name,
        entries=lambda wildcards: jobs.canonical_json(gallery.entries(CONFIG)),
    shell:
        "printf %s {params.entries:q} | python {params.scripts:q}/gallery.py"
        " --protocol {params.protocol} --figures {input.figures} --output {output.page}"
        " --pictures docs/gallery 2> {log}"
