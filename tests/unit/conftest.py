"""One thread, for torch and for NumPy's BLAS: the tests must not crowd out what else runs here."""

import os
from pathlib import Path

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is first imported
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / ".kernels"))

import torch  # noqa: E402

torch.set_num_threads(1)
