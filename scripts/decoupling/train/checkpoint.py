"""Saved state of a training job, so that a killed one goes on where it was."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import torch

from .results import atomic_path, discard_temporaries

log = logging.getLogger(__name__)


class Checkpoint:
    """One file, written atomically about once a minute, stamped with what it belongs to."""

    def __init__(self, path: Path, stamp: str, every_seconds: float) -> None:
        self.path = path
        self.stamp = stamp
        self.every_seconds = every_seconds
        self._saved_at = time.monotonic()

    @property
    def due(self) -> bool:
        return time.monotonic() - self._saved_at >= self.every_seconds

    def save(self, state: dict[str, Any]) -> None:
        with atomic_path(self.path) as temporary:
            torch.save({"stamp": self.stamp, "state": state}, temporary)
        self._saved_at = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The saved state, or None where there is none that belongs to this job."""
        if not self.path.exists():
            return None
        try:
            saved = torch.load(self.path, weights_only=True)
            stamp, state = saved["stamp"], saved["state"]
        except Exception:  # damaged bytes make torch.load raise almost anything
            log.warning("%s: not readable as a checkpoint; starting anew", self.path)
            return None
        if stamp != self.stamp:
            log.warning("%s: of another spec, protocol or code version; starting anew", self.path)
            return None
        return state

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)
        discard_temporaries(self.path)
