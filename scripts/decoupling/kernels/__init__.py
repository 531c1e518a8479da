"""Compiled code, by Numba, for work that array operations do too slowly.

Compiling takes seconds, so compiled code is kept in the folder `.kernels` of the working directory
(or in NUMBA_CACHE_DIR). Numba reads it with pickle, which this project uses nowhere else. A folder
that belongs to somebody else is not used.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

log = logging.getLogger(__name__)

FOLDER = ".kernels"
LARGEST = 24  # D or K; products are written out in full, which gets too long for larger ones
# Sums may be taken in any order. NaN and infinity are respected, and those of one seed do not stop
# the others.
OPTIONS = {
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
    "nogil": True,
}

jit = numba.njit(**OPTIONS)  # for functions that are compiled into their callers


@cache
def compiled(function: Callable, *sizes: int) -> Callable:
    """The function, compiled when it is first called with these sizes.

    Each version of the code, kind of processor and size has another folder, with one signature of
    the function. Numba's index has no lock, but jobs that start together can write only the same
    code there, which does no harm.
    """
    kept = _folder(function, sizes)
    numba.config.CACHE_DIR = str(kept or "")
    kernel = numba.njit(cache=kept is not None, **OPTIONS)(function)

    def call(*arguments: object) -> None:
        known = len(kernel.overloads)
        started = time.monotonic()
        kernel(*arguments)
        if len(kernel.overloads) > known:
            if known:
                raise TypeError(
                    f"{function.__module__}: arrays of another type or order than before"
                )
            origin = "read" if kernel.stats.cache_hits else "compiled"
            name = function.__module__.rpartition(".")[2]
            log.info("Kernel %s: %s in %.1f s", name, origin, time.monotonic() - started)

    return call


def _folder(function: Callable, sizes: tuple[int, ...]) -> Path | None:
    """The folder of the compiled function; None if it cannot be used."""
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or FOLDER).absolute()
    sources = sorted(Path(__file__).parent.glob("*.py"))
    processor = get_host_cpu_name() + get_host_cpu_features().flatten()
    text = b"".join(path.read_bytes() for path in sources)
    text += f"{numba.__version__} {processor}".encode()
    digest = hashlib.sha256(text).hexdigest()[:12]
    name = function.__module__.rpartition(".")[2]
    folder = base / "-".join([name, digest, *map(str, sizes)])
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    log.warning("%s cannot be used; compiling anew", folder)
    return None
