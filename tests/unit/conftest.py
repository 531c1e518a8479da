"""One thread, for torch and for NumPy's BLAS: the tests must not crowd out what else runs here. And
the marker `numerical`, by what a module imports."""

import os
import re
from pathlib import Path

import pytest

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is first imported
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / ".kernels"))

PACKAGES = "analysis|engines|kernels|problem|theory"  # which compute; `sources` checks configs too
COMPUTES = re.compile(
    rf"^from decoupling(\.({PACKAGES}|sources\.\w+)\b| import .*\b({PACKAGES})\b)", re.M
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    import torch  # here, so that the process which only hands out tests does without

    torch.set_num_threads(1)
    computing = {path: COMPUTES.search(path.read_text()) for path in {x.path for x in items}}
    for item in items:
        if computing[item.path] and not item.get_closest_marker("no_sums"):
            item.add_marker("numerical")
