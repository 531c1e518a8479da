"""Snakemake with its imports done: each line of standard input asks for a run, in its own process.

A start of Snakemake takes a second of one core, most of it to import what no test changes. A fork
has all that. The clone's own code, the config and the plugins' settings it reads as ever.
"""

import gc
import json
import os
import sys

import jsonschema  # noqa: F401
import markdown_it  # noqa: F401
import pandas  # noqa: F401
import requests  # noqa: F401
import smart_open  # noqa: F401
import snakemake.cli
import snakemake.report.html_reporter
import snakemake_executor_plugin_slurm  # noqa: F401
import snakemake_logger_plugin_rich  # noqa: F401


def run(args: list[str], cwd: str, environment: dict[str, str], out: str, err: str) -> None:
    """As `python -m snakemake` in that folder; it does not return."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, name in enumerate((os.devnull, out, err)):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.path[0] = cwd
    sys.argv = [snakemake.cli.__file__.replace("cli.py", "__main__.py"), *args]
    snakemake.cli.main()


def main() -> None:
    gc.freeze()
    # Not through sys.stdin, whose buffer a fork would share.
    requests_from, replies_to = os.fdopen(os.dup(0), "r"), os.dup(1)
    while line := requests_from.readline():
        pid = os.fork()
        if pid == 0:
            run(**json.loads(line))
            return
        _, status = os.waitpid(pid, 0)
        os.write(replies_to, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
