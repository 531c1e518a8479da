"""The saved state of a training job: a killed job goes on from there."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files import atomic_path, discard_temporaries

log = logging.getLogger(__name__)

Arrays = Mapping[str, np.ndarray]


class Checkpoint:
    """One file, written atomically about once a minute, with the stamp of its job.

    In NumPy's own format, without pickled objects: arrays by name, and a text with the rest.
    """

    def __init__(self, path: Path, stamp: str, every_seconds: float) -> None:
        self.path = path
        self.stamp = stamp
        self.every_seconds = every_seconds
        self._saved_at = time.monotonic()

    @property
    def due(self) -> bool:
        return time.monotonic() - self._saved_at >= self.every_seconds

    def save(self, progress: Mapping[str, Any], arrays: Arrays) -> None:
        """`progress` is anything that JSON can hold; no array is named `text`."""
        text = json.dumps({"stamp": self.stamp, "progress": progress})
        with atomic_path(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, text=np.array(text), **arrays)
        self._saved_at = time.monotonic()

    def load(self) -> tuple[dict[str, Any], Arrays] | None:
        """Progress and arrays as saved; None if this job has saved nothing."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = dict(file)
            saved = json.loads(arrays.pop("text").item())
            stamp, progress = saved["stamp"], saved["progress"]
        except Exception:  # damaged bytes make np.load raise almost anything
            log.warning("%s: not readable as a checkpoint; starting anew", self.path)
            return None
        if stamp != self.stamp:
            log.warning("%s: of another spec, protocol or code version; starting anew", self.path)
            return None
        return progress, arrays

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)
        discard_temporaries(self.path)
