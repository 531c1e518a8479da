# Needs kept results (data/reference), theory and the authors' risks. Makes docs/reproduction.md,
# which is committed: its numbers are the data's.

PAGES = cfg.page_settings(config)
PAGE_SETTINGS = sorted({setting for page in PAGES.values() for setting in page})
KEPT = [
    "batch_noise.csv",
    "exact.parquet",
    "laptop.parquet",
    "laptop_costs.csv",
    "paper.parquet",
    "paper_costs.csv",
    "recipe.md",
    "recipe_joint.md",
    "speed.json",
]


rule reproduction:
    input:
        script="scripts/reproduction.py",
        library=library(
            "spec",
            "recipes",
            "sampling",
            "moments",
            "risk",
            "theory",
            "results",
            "tables",
            "published",
            "scoreboard",
            "gaps",
            "reproduction",
        ),
        template="docs/reproduction.md.j2",
        kept=expand("data/reference/{name}", name=KEPT),
        specs=expand("data/specs/{setting}.json", setting=PAGE_SETTINGS),
        theory=expand("data/theory/{setting}.parquet", setting=PAGE_SETTINGS),
        rates=rates_theory,
        published=PUBLISHED,
    output:
        page="docs/reproduction.md",
    log:
        "logs/docs/reproduction.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    params:
        figures=canonical_json(PAGES),
    shell:
        "python {input.script} --template {input.template} --kept {input.kept}"
        " --figures {params.figures:q} --specs {input.specs} --theory {input.theory} --rates {input.rates}"
        " --published {input.published} --output {output.page} 2> {log}"
