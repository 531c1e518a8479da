# What the workflow says when it has planned its jobs and before it does the first: what of the archive
# cannot be drawn, which ends it, and what training will cost. (Snakemake has one such hook.)


onstart:
    if UNARCHIVED:
        raise WorkflowError(
            f"Nothing is drawn: tables that are not in the archive, see above: {len(UNARCHIVED)}."
        )
    trainings = [
        job.wildcards for job in workflow.dag.needrun_jobs() if job.rule.name == "train"
    ]
    if trainings:
        cores = workflow.cores if workflow.local_exec else None
        logger.info(archived.expected(CONFIG, trainings, cores))
