# Needs archived results (data/archive). Makes a table per setting in data/archived, from which figures
# are drawn with `results: archive`. A table that is not archived, or does not match the config, ends the
# workflow when it starts, with a line for each.


rule unpack:
    input:
        shown_if_unarchived,
    output:
        table="data/archived/{folder}/{name}.parquet",
    log:
        "logs/archived/{folder}/{name}.log",
    wildcard_constraints:
        folder=one_of(archived.folders(CONFIG)),
        name=r"[^/]+(/\d+-\d+)?",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("unpack.py", data=(archived_file(wildcards),)),
        source=lambda wildcards: jobs.canonical_json(
            {**archived.source(CONFIG, **wildcards), "problem": unarchived(wildcards)}
        ),
        archive=ARCHIVE,
    shell:
        "python {params.scripts:q}/unpack.py --archive {params.archive:q} --source {params.source:q}"
        " --output {output.table} 2> {log}"
