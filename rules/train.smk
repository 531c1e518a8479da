# Needs a spec, and its table if it has one. Makes a file of runs per (setting, n, block of seeds):
# every model, depth and arm of the setting, trained by the protocol in the file's name.


rule train:
    input:
        spec="data/specs/{setting}.json",
        files=lambda wildcards: jobs.source_files(setting(wildcards)),
    output:
        runs="data/{protocol}/runs/{setting}/n{n}/seeds{first}-{last}.parquet",
        parameters="data/{protocol}/parameters/{setting}/n{n}/seeds{first}-{last}.parquet",
    log:
        "logs/{protocol}/train/{setting}/n{n}/seeds{first}-{last}.log",
    benchmark:
        "benchmarks/results/{protocol}/{setting}/n{n}/seeds{first}-{last}.tsv"
    priority: longest_first
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * jobs.mem_mb(protocol(wildcards), setting(wildcards)),
        runtime=lambda wildcards, attempt: duration.minutes(
            protocol(wildcards), setting(wildcards), int(wildcards.n), attempt
        ),
        gpu=lambda wildcards: jobs.gpus(protocol(wildcards), setting(wildcards)),
    params:
        scripts=SCRIPTS,
        code=lambda wildcards: code(
            "train.py",
            *jobs.modules(setting(wildcards)),
            *jobs.optimisers(protocol(wildcards), setting(wildcards)),
        ),
        source=lambda wildcards: setting(wildcards).source,
        runs=lambda wildcards: jobs.block_runs(
            protocol(wildcards), setting(wildcards), int(wildcards.first), int(wildcards.last)
        ),
        device=lambda wildcards: jobs.device(protocol(wildcards), setting(wildcards)),
    shell:
        "python {params.scripts:q}/train.py --source {params.source} --spec {input.spec}"
        " --files {input.files:q}"
        " --n {wildcards.n} --seeds {wildcards.first} {wildcards.last}"
        " --protocol {wildcards.protocol} --runs {params.runs:q} --code {params.code}"
        " --threads {threads} --device {params.device} --output {output.runs}"
        " --parameters {output.parameters} 2> {log}"
