# Needs a spec. Makes one file of runs per (setting, n, block of seeds): every model, depth and
# arm of the setting, trained by the active protocol.


rule train:
    input:
        script="scripts/train.py",
        library=library(
            "spec",
            "recipes",
            "sampling",
            "moments",
            "risk",
            "models",
            "deep",
            "tracks",
            "training",
            "checkpoint",
            "results",
        ),
        spec="data/specs/{setting}.json",
    output:
        runs="data/{protocol}/runs/{setting}/n{n}/seeds{first}-{last}.parquet",
    log:
        "logs/{protocol}/train/{setting}/n{n}/seeds{first}-{last}.log",
    benchmark:
        "benchmarks/results/{protocol}/{setting}/n{n}/seeds{first}-{last}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        mem_mb=train_mem_mb,
        runtime=train_minutes,
        gpu=train_gpus,
    params:
        tasks=block_tasks,
        device=device,
    shell:
        "python {input.script} --spec {input.spec} --n {wildcards.n}"
        " --seeds {wildcards.first} {wildcards.last} --protocol {wildcards.protocol}"
        " --tasks {params.tasks:q} --threads {threads} --device {params.device}"
        " --output {output.runs} 2> {log}"
