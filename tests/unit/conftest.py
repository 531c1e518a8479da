"""One thread, for torch and for NumPy's BLAS: the tests must not crowd out what else runs here."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is first imported

import torch  # noqa: E402

torch.set_num_threads(1)
