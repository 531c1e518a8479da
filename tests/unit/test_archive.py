"""The archive: what is kept in it, and whether it is what the config says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import configs
import pandas as pd
import pytest
import yaml
from decoupling.config import Config
from decoupling.config.archive import Archive
from decoupling.plan import archived, jobs
from decoupling.plan.read import load
from decoupling.tables import BAYES, BOUNDS, RISKS, RUNS, SAMPLED, write_table

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/archive.py"
STAMP = {"protocol": "laptop", "device": "cpu", "numpy": "2", "numba": "0.6"}
VALUES = {"string": "attention", "int64": 1, "double": 1.5, "bool": True}
RAW = yaml.safe_load("""
protocol: laptop
protocols:
  laptop: {seeds: 2, seeds_per_job: 1, one_layer: {batch_size: exact, iterations: 5, lr: 0.1}}
settings:
  one: &one {d: 2, weights: [0.5, 0.5], means: [1, -1], covs: [1, 1], n: [1], arms: [plain]}
  two: {<<: *one, noise_var: 1}
figures:
  some: {kind: mixtures, count: 3, seed: 5}
""")


def example(schema, **values) -> dict:
    """A row with something of every column's type."""
    return {f.name: values.get(f.name, VALUES.get(str(f.type))) for f in schema}


def make(folder: Path, setting: str, risk: float, minutes: float, **recipe) -> None:
    """What a finished setting leaves behind: two jobs of a seed each."""
    raw = deepcopy(RAW)
    raw["protocols"]["laptop"]["one_layer"] |= recipe
    config = configs.read(raw)
    data = folder / "data/laptop"
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config/config.yaml").write_text(yaml.safe_dump(RAW))
    row = example(RISKS, setting=setting, risk=risk)
    write_table(data / f"risks/{setting}.parquet", [row], RISKS)
    write_table(data / f"bounds/{setting}.parquet", [example(BOUNDS, setting=setting)], BOUNDS)
    for seed in (0, 1):
        made, protocol = config.settings[setting], config.protocols["laptop"]
        runs = jobs.block_runs(protocol, made, seed, seed)
        stamp = STAMP | {"runs": runs, "spec_digest": jobs.fingerprint(made)}
        block = f"{setting}/n1/seeds{seed}-{seed}"
        row = example(RUNS, setting=setting)
        write_table(data / f"runs/{block}.parquet", [row], RUNS, stamp)
        costs = folder / f"benchmarks/results/laptop/{block}.tsv"
        costs.parent.mkdir(parents=True, exist_ok=True)
        costs.write_text(f"cpu_time\tmax_rss\n{30 * minutes}\t5\n")


def keep(folder: Path, *settings: str, check: bool = True) -> str:
    command = [sys.executable, SCRIPT, "laptop", *settings]
    return subprocess.run(command, cwd=folder, check=check, capture_output=True, text=True).stderr


def read(folder: Path, raw: dict = RAW) -> Config:
    """The config with the archive in a folder."""
    return load(raw, **configs.CLONE | {"archive": Archive.read(folder / "data/archive")})


def test_named_settings_are_replaced_and_others_stay(tmp_path):
    kept = tmp_path / "data/archive"
    make(tmp_path, "one", 1.0, 1.0)
    make(tmp_path, "two", 2.0, 2.0)
    keep(tmp_path, "one", "two")
    make(tmp_path, "one", 1.25, 4.0)
    make(tmp_path, "two", 9.0, 9.0)
    keep(tmp_path, "one")
    risks = pd.read_parquet(kept / "laptop.parquet").set_index("setting").risk
    assert risks.to_dict() == {"one": 1.25, "two": 2.0}
    costs = pd.read_csv(kept / "laptop_costs.csv").set_index("setting").core_minutes
    assert costs.to_dict() == {"one": 4.0, "two": 2.0}
    assert len(pd.read_parquet(kept / "laptop_bounds.parquet")) == 2
    entries = json.loads((kept / "manifest.json").read_text())["trained"]["laptop"]
    assert entries["one"]["core_minutes"] == {"1": 4.0}
    assert entries["two"]["core_minutes"] == {"1": 2.0}
    recipe = {"iterations": 5, "lr": 0.1}
    runs = [{"curves": ["attention/1/plain"], "seeds": 2, "recipe": recipe}]
    assert entries["one"]["runs"] == runs
    assert entries["one"]["files"] == {"risks": "laptop", "bounds": "laptop_bounds"}


def test_computed_tables_are_kept_with_their_setting(tmp_path):
    make(tmp_path, "one", 1.0, 1.0)
    bayes = [example(BAYES, setting="one")]
    write_table(tmp_path / "data/bayes/one.parquet", bayes, BAYES)
    for first, last in ((0, 1), (2, 2)):
        rows = [example(SAMPLED, mixture=number) for number in range(first, last + 1)]
        write_table(tmp_path / f"data/sampled/some/{first}-{last}.parquet", rows, SAMPLED)
    keep(tmp_path, "one", "some")
    config = read(tmp_path)
    for folder, name in (
        ("laptop/risks", "one"),
        ("laptop/bounds", "one"),
        ("bayes", "one"),
        ("sampled", "some/0-1"),
    ):
        assert archived.problem(config, folder, name) == ""
        file = archived.source(config, folder, name)["file"]
        assert (tmp_path / f"data/archive/{file}.parquet").exists()
    assert archived.source(config, "sampled", "some/0-1")["rows"] == {"mixture": [0, 1]}
    assert archived.problem(config, "bayes", "two") == "two is not archived (bayes)"


@pytest.mark.parametrize("missing", ["data/laptop/runs", "benchmarks/results/laptop"])
def test_what_is_missing_is_named_and_nothing_kept(tmp_path, missing):
    make(tmp_path, "one", 1.0, 1.0)
    shutil.rmtree(tmp_path / missing)
    (line,) = keep(tmp_path, "one", check=False).splitlines()
    assert line.startswith(missing)
    assert not (tmp_path / "data/archive").exists()


def test_what_was_trained_by_another_recipe_is_not_kept(tmp_path):
    make(tmp_path, "one", 1.0, 1.0, lr=0.2)
    (line,) = keep(tmp_path, "one", check=False).splitlines()
    text = "one was trained by another recipe than protocols.laptop.one_layer (lr)"
    assert line == f"{text}; run snakemake first"
    assert not (tmp_path / "data/archive").exists()


def test_an_edit_no_longer_matches(tmp_path):
    make(tmp_path, "one", 1.0, 1.0)
    keep(tmp_path, "one")

    def problem(keys: tuple[str, ...], value) -> str:
        raw = deepcopy(RAW)
        block = raw
        for key in keys[:-1]:
            block = block[key]
        block[keys[-1]] = value
        return archived.problem(read(tmp_path, raw), "laptop/risks", "one")

    one, recipe = ("settings", "one"), ("protocols", "laptop", "one_layer")
    assert problem((*one, "noise_var"), 0) == ""
    assert problem(("protocols", "laptop", "seeds_per_job"), 2) == ""
    assert problem((*recipe, "init_std"), 0.1) == ""  # the default
    assert problem((*one, "noise_var"), 2) == "settings.one is not as archived"
    assert problem((*one, "n"), [1, 2, 3]) == "one is not archived at n = 2, 3 (laptop/risks)"
    assert problem((*one, "arms"), ["plain", "joint"]).endswith("with attention/1/joint")
    text = "one was trained by another recipe than protocols.laptop.one_layer"
    assert problem((*recipe, "lr"), 0.2) == f"{text} (lr)"
    assert problem(("protocols", "laptop", "seeds"), 3) == f"{text} (seeds)"


def test_the_small_print_says_so(tmp_path):
    make(tmp_path, "one", 1.0, 1.0)
    keep(tmp_path, "one")
    path = tmp_path / "data/archive/manifest.json"
    known = json.loads(path.read_text())
    known["trained"]["laptop"]["one"]["commit"] = "0123456789abcdef"
    path.write_text(json.dumps(known))
    trained, config = (read(tmp_path, RAW | more) for more in ({}, {"results": "archive"}))
    figure = config.figures["one"]
    note = figure.note(trained)
    assert figure.note(config) == f"Archived results (commit 0123456). {note}"
    made_by = config.archive.made_by("laptop", ["one", "older"])
    assert made_by == "commit 0123456 and earlier"
    files = {"risks": ["data/archived/laptop/risks/one.parquet"]}
    assert jobs.figure_files(config, "one").items() >= files.items()
    assert jobs.figure_files(trained, "one")["risks"] == ["data/laptop/risks/one.parquet"]


def test_results_are_trained_or_archived():
    (line,) = configs.problems(RAW | {"results": "archived"})
    assert line.startswith("results: 'archived' is not one of ['train', 'archive']")


def test_every_file_of_the_archive_is_in_its_manifest():
    """And the other way round."""
    archive = configs.read().archive
    trained = [entry for entries in archive.trained.values() for entry in entries.values()]
    computed = [entry for entries in archive.computed.values() for entry in entries.values()]
    named = {file for entry in trained for file in entry["files"].values()}
    named |= {entry["file"] for entry in computed}
    assert named == {path.stem for path in (ROOT / "data/archive").glob("*.parquet")}
    for protocol, entries in archive.trained.items():
        for name, entry in entries.items():
            for table, file in entry["files"].items():
                rows = pd.read_parquet(ROOT / f"data/archive/{file}.parquet")
                assert (rows.setting == name).any(), (protocol, name, table)


def test_what_training_will_cost(tmp_path):
    """Known where it is archived by the recipe of today; a job of two has half of it."""
    make(tmp_path, "one", 1.0, 4.0)
    keep(tmp_path, "one")

    def said(raw: dict, *settings: str, cores: int | None = None) -> str:
        found = [SimpleNamespace(protocol="laptop", setting=name, n="1") for name in settings]
        return archived.expected(read(tmp_path, raw), found, cores)

    about = "about 2.0 core-minutes, as on the machine of the archive"
    assert said(RAW, "one") == f"1 training, {about}."
    assert said(RAW, "one", "two") == f"2 trainings, {about}; the time of 1 is not known."
    three = "3 trainings, about 6.0 core-minutes, as on the machine of the archive"
    assert said(RAW, *["one"] * 3, cores=2) == f"{three}: 3.0 minutes on 2 cores."
    assert said(RAW, *["one"] * 3, cores=8) == f"{three}: 2.0 minutes on 8 cores."
    assert said(RAW, *["one"] * 3, cores=1) == f"{three}."
    other = deepcopy(RAW)
    other["protocols"]["laptop"]["one_layer"]["iterations"] = 500
    unknown = "1 training; the archive does not know the time."
    assert said(other, "one") == unknown
