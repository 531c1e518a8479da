# Messages after the workflow has planned its jobs, before the first starts: archived tables that
# cannot be drawn, which end it, or the cost of training. (Snakemake has one hook for both.)


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
    if workflow.local_exec:
        # There is no queue to spare. With a limit, Snakemake looks for new jobs every second besides
        # when one ends, which took a fifth of a core with all figures.
        workflow.scheduler.job_rate_limiter = None
