# Needs the archive, and this machine's results by the active protocol. Makes a comparison of the two,
# point by point. It trains nothing: results are no inputs, but a digest of them is a parameter.

MINE = f"data/{CONFIG.protocol.name}"


rule compare:
    output:
        table=f"{MINE}/verify.parquet",
        markdown=f"{MINE}/verify.md",
    log:
        f"logs/{CONFIG.protocol.name}/verify.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code("verify.py", data=tuple(sorted(ARCHIVE.glob("*.*")))),
        mine=lambda wildcards: archived.trained_digest(Path(MINE)),
        specs=lambda wildcards: jobs.canonical_json(archived.digests(CONFIG)),
        protocol=CONFIG.protocol.name,
        archive=ARCHIVE,
    shell:
        "python {params.scripts:q}/verify.py --protocol {params.protocol} --specs {params.specs:q}"
        " --archive {params.archive:q} --table {output.table} --markdown {output.markdown} 2> {log}"


rule verify:
    input:
        rules.compare.output.markdown,
    log:
        f"logs/{CONFIG.protocol.name}/verdict.log",
    localrule: True
    conda:
        "../envs/pipeline.yaml"
    shell:
        "(tail -n 1 {input}; tail -n 1 {input} | grep -q '^Verified') | tee {log}"
