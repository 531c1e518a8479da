"""Says in one line what a Python lacks for the pinned packages, before anything is installed.

It runs on Pythons that are too old, so nothing here is newer than they are.
"""

import os
import sys

OLDEST, NEWEST = (3, 11), (3, 14)
WITHOUT_WHEEL = (3, 14)  # from here on pip compiles immutables, which Snakemake needs


def text(version):
    return ".".join(map(str, version))


def missing(name):
    """What is not there, and Debian's package of it."""
    import shutil
    import sysconfig
    from importlib.util import find_spec

    if not find_spec("ensurepip"):
        yield "ensurepip", name + "-venv"
    if sys.version_info >= WITHOUT_WHEEL:
        compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
        if not shutil.which(compiler.split()[0]):
            yield "a C compiler", "gcc"
        if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
            yield "Python.h", name + "-dev"


def problem():
    """The line, with its remedy; None if there is nothing to say."""
    version = sys.version_info[:2]
    name = "python" + text(version)
    if not OLDEST <= version <= NEWEST:
        wanted = "Python " + text(OLDEST) + " to " + text(NEWEST) + " is needed, and this is "
        return wanted + text(version) + ": name another, as in make PYTHON=python3.12 ..."
    lacks = dict(missing(name))
    if lacks:
        remedy = ": apt install " + " ".join(lacks.values()) + ", or make PYTHON=python3.12 ..."
        return name + " lacks " + ", ".join(lacks) + remedy
    return None


if __name__ == "__main__":
    sys.exit(problem())
