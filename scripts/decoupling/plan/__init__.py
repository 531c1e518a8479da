"""From the config to jobs: reading it, checking it, and the parameters of each job."""
