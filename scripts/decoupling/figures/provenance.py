"""A figure's provenance, the content of its `.json`.

Of it, the PDF and PNG have the code's digest alone, so that the same inputs and code give the same
bytes from any commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..files import atomic_path

PACKAGES = ("snakemake", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "seaborn")
SOURCES = ("Snakefile", "rules", "scripts", "config", "data", "envs")  # folders whose edits count
COMMAND = "REMADE_BY"  # set by rules/common.smk: Snakemake's command line, without targets


def write(
    path: Path, about: Mapping[str, Any], code: str, inputs: Iterable[Path], clone: Path
) -> None:
    """`about` has the config's part; `code` is the digest of the code that drew the figure."""
    figure = path.with_suffix(".pdf")
    record = {
        "command": f"{os.environ.get(COMMAND, 'snakemake')} -- {figure}",
        **about,
        "code": {"digest": code, **commit(clone)},
        "inputs": {_named(file, clone): digest(file) for file in inputs},
        "versions": versions(),
    }
    with atomic_path(path) as temporary:
        temporary.write_text(_readable(record))


def _readable(record: Mapping[str, Any]) -> str:
    """JSON with each list of numbers or words on one line. (No text in it has a line break.)"""
    text = json.dumps(record, indent=2, ensure_ascii=False)
    return re.sub(r"\[\n[^][{}]*?\]", lambda found: _on_a_line(found[0]), text) + "\n"


def _on_a_line(values: str) -> str:
    return re.sub(r"\n\s*", " ", values).replace("[ ", "[").replace(" ]", "]")


def commit(clone: Path, sources: Iterable[str] = SOURCES) -> dict[str, str | bool | None]:
    """The clone's commit, and whether its sources are as committed; None without git."""
    top, head = _git(clone, "rev-parse", "--show-toplevel", "HEAD").splitlines() or ("", None)
    if not top or Path(top).resolve() != clone.resolve():  # a copy in another repository
        return {"commit": None, "clean": None}
    changes = _git(clone, "status", "--porcelain", "--", *sources)
    return {"commit": head, "clean": changes == ""}


def _git(clone: Path, *arguments: str) -> str:
    """The output of a git command; empty without git or a repository."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", clone, *arguments], env=ours, capture_output=True, text=True
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _named(file: Path, clone: Path) -> str:
    """The path of a file; in the clone relative to it, as a clone can be moved."""
    absolute = file.is_absolute() and file.is_relative_to(clone)
    return str(file.relative_to(clone) if absolute else file)
