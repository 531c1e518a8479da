"""Memory of arrays that come and go: a batch and its intermediate results, thousands of times.

The C library gives such memory back to the system at once, and the system hands it out again page
by page, cleared, which can take longer than drawing the batch.
"""

from __future__ import annotations

import ctypes
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of <malloc.h>
MOST = 2**25  # bytes, the most that MMAP_THRESHOLD can be


@cache
def keep_freed_memory() -> None:
    """Tell GNU's C library to keep freed memory, for the rest of the process. Other libraries are
    left alone."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(MMAP_THRESHOLD, MOST)
    mallopt(TRIM_THRESHOLD, 2**31 - 1)
