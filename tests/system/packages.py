"""Debian packages that a system test needs, installed where they are missing."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock


class UnavailableError(RuntimeError):
    """Why something can not be had on this machine."""


def install_packages(packages: Iterable[str], programs: Iterable[str]) -> None:
    """Make sure that the programs are here, by installing the packages if they are not."""
    if all(map(shutil.which, programs)):
        return
    if not (Path("/etc/debian_version").exists() and shutil.which("apt-get")):
        raise UnavailableError(f"{', '.join(packages)} are missing; this is no Debian with apt")
    if os.geteuid() != 0:
        raise UnavailableError(f"{', '.join(packages)} are missing; installing them needs root")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    with FileLock("/tmp/apt-get.lock"):  # another worker may be installing
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            done = subprocess.run(
                ["apt-get", *arguments], env=environment, capture_output=True, text=True
            )
            if done.returncode:
                raise UnavailableError(f"apt-get {arguments[0]} failed: {done.stderr.strip()}")
