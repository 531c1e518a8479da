"""From the config to jobs: reading it, checking it, and what each job depends on."""
