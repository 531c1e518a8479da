# Needs kept results (data/reference), theory and the authors' risks. Makes docs/reproduction.md,
# which is committed: its numbers are the data's.

PAGES = comparisons.page_settings(CONFIG)
PAGE_SETTINGS = sorted({name for page in PAGES.values() for name in page})
TEMPLATE = ROOT / "docs/reproduction.md.j2"
KEPT = ROOT / "data/reference"
FIGURE_2B = ROOT / "data/published/figure_2b.csv"


rule reproduction:
    input:
        specs=expand("data/specs/{setting}.json", setting=PAGE_SETTINGS),
        theory=expand("data/theory/{setting}.parquet", setting=PAGE_SETTINGS),
        # asked for with the page only: a config may do without these figures
        rates=lambda wildcards: expand(
            "data/theory/{setting}.parquet",
            setting=CONFIG.figures["rates"].needs(CONFIG)["theory"],
        ),
        shared=lambda wildcards: "data/theory/shared.parquet",
        softmax=lambda wildcards: expand(
            "data/theory/{setting}.parquet",
            setting=["softmax_clean", "softmax_noisy", "transformer"],
        ),
        sampled=lambda wildcards: jobs.figure_files(CONFIG, "mixtures")["sampled"],
        identity=lambda wildcards: jobs.figure_files(CONFIG, "identity")["identity"],
    output:
        page="docs/reproduction.md",
    log:
        "logs/docs/reproduction.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        scripts=SCRIPTS,
        code=code(
            "reproduction.py", data=(TEMPLATE, PUBLISHED, FIGURE_2B, *sorted(KEPT.glob("*.*")))
        ),
        template=TEMPLATE,
        kept=KEPT,
        published=PUBLISHED,
        figure_2b=FIGURE_2B,
        figures=jobs.canonical_json(PAGES),
    shell:
        "python {params.scripts:q}/reproduction.py --template {params.template:q}"
        " --kept {params.kept:q} --figures {params.figures:q} --specs {input.specs}"
        " --theory {input.theory} --rates {input.rates}"
        " --shared {input.shared} --softmax {input.softmax} --sampled {input.sampled} --identity {input.identity}"
        " --published {params.published:q} --figure-2b {params.figure_2b:q}"
        " --output {output.page} 2> {log}"
