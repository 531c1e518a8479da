"""What jobs and the workflow import when they start: nothing heavy that they may not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
HEAVY = {"torch", "seaborn", "matplotlib", "pandas", "numba", "scipy"}
COMPILED = {"numba", "scipy"}  # the first imports the second
NEEDED = {"training of one layer": COMPILED, "sample": {"scipy"}, "theory": {"scipy"}}


def script(name: str, *loaded: str) -> str:
    """A script's own imports, and the modules that it loads by name."""
    lines = [f"runpy.run_path({str(SCRIPTS / name)!r})"]
    return "\n".join([*lines, *(f"import decoupling.{module}" for module in loaded)])


STARTS = {
    "training of one layer": script(
        "train.py",
        *("train.loop", "models.attention", "models.reduced", "engines.moments"),
        *("sources.gaussian.contexts", "train.optimisers.adam"),
    ),
    "identity": script("identity.py"),
    "sample": script("sample.py"),
    "theory": script("theory.py"),
    "bayes": script("bayes.py"),
    "plan": """
from decoupling import figures, models, sources
from decoupling.plan import checks, code, comparisons, duration, jobs, read
from decoupling.train import optimisers
assert models.modules() and figures.kinds() and sources.blocks() and optimisers.modules()
""",
}


@pytest.mark.parametrize("name", STARTS)
def test_nothing_heavy_is_imported(name: str):
    program = f"""
import runpy, sys
sys.path.insert(0, {str(SCRIPTS)!r})
{STARTS[name]}
print(*({HEAVY - NEEDED.get(name, set())!r} & sys.modules.keys()))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == []
