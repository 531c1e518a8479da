"""Which code a job depends on: what it imports, no more and no less."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from decoupling import figures, models, sources
from decoupling.plan import code

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"
LIBRARY = SCRIPTS / "decoupling"

# The modules of every engine; one chooses another when it is asked for.
ENGINES = {
    "moments": ["engines.moments"],
    "sequences": ["engines.sequences"],
    "softmax": ["engines.softmax", "engines.sequences"],
    "gram": ["engines.gram", "engines.gram_torch"],
}
OPTIMISERS = {
    "adam": ["train.optimisers.adam", "kernels.adam"],  # whose kernel it imports when it is used
    "sgd": ["train.optimisers.sgd"],
}
SOFTMAX = ("sources.gaussian.contexts", "models.softmax", *ENGINES["softmax"])
ALONE = (  # scripts that load nothing by name
    *(
        "aggregate",
        "theory",
        "unpack",
        "verify",
        "gallery",
        "bayes",
        "identity",
        "sample",
        "scoreboard",
        "explorer",
        "real",
    ),
    *("page_tables", "table", "fold", "fold_theory", "fold_redrawn"),
)
# name: script, and the modules that it loads by name
JOBS = {
    **{script: (f"{script}.py",) for script in ALONE},
    **{
        f"{model} on {source}": (
            "train.py",
            *(f"sources.{source}.contexts", f"models.{model}"),
            *ENGINES[made.engine],
            *OPTIMISERS["adam"],
        )
        for source, block in sources.blocks().items()
        for model, made in models.modules().items()
        if made.engine in block.ENGINES
    },
    "attention by sgd": (
        "train.py",
        *("sources.gaussian.contexts", "models.attention"),
        *ENGINES["moments"],
        *OPTIMISERS["sgd"],
    ),
    "held_out": ("held_out.py", "models.attention", "models.reduced"),
    "prompt_share": ("prompt_share.py", *SOFTMAX),
    "bounds": (
        "bounds.py",
        *("sources.gaussian.contexts", "models.attention", "models.deep_attention"),
        *(module for engine in ("moments", "gram") for module in ENGINES[engine]),
    ),
    **{f"{kind} figure": ("figure.py", f"figures.{kind}") for kind in figures.kinds()},
}

# Imports the script and modules of every job afresh, and says which of the library came with them.
IMPORT = """
import importlib, json, runpy, sys
found = {}
for name, (script, *loaded) in json.loads(sys.argv[1]).items():
    for module in [m for m in sys.modules if m.split(".")[0] == "decoupling"]:
        del sys.modules[module]
    runpy.run_path(f"{sys.path[0]}/{script}", run_name="imported")
    for module in loaded:
        importlib.import_module(f"decoupling.{module}")
    ours = [m for m in sys.modules if m.split(".")[0] == "decoupling"]
    found[name] = [m.partition(".")[2] for m in ours]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    program = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n{IMPORT}"
    command = [sys.executable, "-c", program, json.dumps(JOBS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: set(modules) for name, modules in json.loads(done.stdout).items()}


def digests() -> dict[str, str]:
    return {
        name: code.code_digest(SCRIPTS / script, *loaded)
        for name, (script, *loaded) in JOBS.items()
    }


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Nothing remembered from before, nor afterwards."""
    remembered = (code._bytes, code._imports, code._closure)
    for function in remembered:
        function.cache_clear()
    yield monkeypatch
    for function in remembered:
        function.cache_clear()


def library_modules() -> dict[str, Path]:
    found = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def test_an_edit_reruns_exactly_the_jobs_that_import_it(fresh, imported: dict):
    """Every module of the library in turn."""
    before, read = digests(), Path.read_bytes
    used = set()
    for module, path in library_modules().items():

        def edited(file: Path, path: Path = path) -> bytes:
            return read(file) + (b"\n# edited\n" if file == path else b"")

        code._bytes.cache_clear()
        fresh.setattr(Path, "read_bytes", edited)
        after = digests()
        changed = {name for name in JOBS if after[name] != before[name]}
        assert changed == {name for name in JOBS if module in imported[name]}, module
        used |= {module} if changed else set()
    reading = {f"sources.{source}.block" for source in sources.blocks()}
    planning = {module for module in library_modules() if module.split(".")[0] == "plan"}
    hints = {"figures.hints"}  # for type checkers
    assert set(library_modules()) - used == planning | reading | hints | {"api"}


def test_theory_and_drawing_are_not_part_of_training(imported: dict):
    for name in ("attention on gaussian", "deep_attention on gaussian"):
        parts = {module.split(".")[0] for module in imported[name]}
        assert parts == {"", "sources", "problem", "models", "engines", "kernels", "train"} | {
            *("cli", "discover", "errors", "files", "tables")
        }


def test_models_do_not_meet(imported: dict):
    one_layer, deeper = imported["attention on gaussian"], imported["deep_attention on gaussian"]
    assert not {"models.deep_attention", "models.reduced", "engines.gram"} & one_layer
    assert not {"models.attention", "models.reduced", "engines.moments"} & deeper


def test_an_edit_to_arms_reruns_what_shows_them_alone(imported: dict):
    """Neither trainings, of any model, nor what evaluates them, nor theory."""
    users = {name for name in JOBS if "models.arms" in imported[name]}
    drawings = {f"{kind} figure" for kind in figures.kinds()}
    assert users == drawings | {"explorer", "page_tables", "verify"}


def test_theory_has_no_code_of_models(imported: dict):
    for name in ("theory", "bayes", "identity", "sample"):
        assert not [module for module in imported[name] if module.startswith("models")]


def test_a_training_has_the_code_of_its_optimiser_alone(imported: dict):
    by_adam, by_sgd = imported["attention on gaussian"], imported["attention by sgd"]
    adam, sgd = (set(modules) for modules in OPTIMISERS.values())
    assert (adam <= by_adam, sgd <= by_sgd) == (True, True)
    assert not sgd & by_adam
    assert not adam & by_sgd


@pytest.mark.parametrize("folder", ["models", "figures", "sources", "train/optimisers"])
def test_a_new_file_reruns_nothing(fresh, folder: str, tmp_path: Path):
    before = digests()
    copy = tmp_path / "decoupling"
    for path in library_modules().values():
        target = copy / path.relative_to(LIBRARY)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (copy / folder / "another.py").write_text("from ..models.arms import ARMS\n")
    for function in (code._bytes, code._imports, code._closure):
        function.cache_clear()
    fresh.setattr(code, "LIBRARY", copy)
    assert digests() == before  # also: a moved library has the same digests


def test_data_files_count(tmp_path: Path):
    file = tmp_path / "data.csv"
    file.write_text("1")
    one = code.code_digest(SCRIPTS / "scoreboard.py", data=[file])
    other = tmp_path / "other.csv"
    other.write_text("2")
    assert one != code.code_digest(SCRIPTS / "scoreboard.py")
    assert one != code.code_digest(SCRIPTS / "scoreboard.py", data=[other])


RULES = [
    (rule, body)
    for file in sorted((ROOT / "rules").glob("*.smk"))
    for rule, body in re.findall(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", file.read_text(), re.M | re.S)
    if rule not in ("spec", "verify")  # one's output is its parameter, one shows a line
]


@pytest.mark.parametrize(("rule", "body"), RULES, ids=[rule for rule, _ in RULES])
def test_every_rule_has_the_digest_of_the_script_it_runs(rule: str, body: str):
    (script,) = re.findall(r"python \{params\.scripts:q\}/(\w+\.py)", body)
    (digest,) = re.findall(r"\bcode=.*?code\(\s*\"(\w+\.py)\"", body, re.S)
    assert script == digest
