"""Keep finished results in data/archive/, with what made them and what they cost.

    python scripts/archive.py laptop fig2c    # after snakemake -- figures/fig2c.pdf
    python scripts/archive.py laptop bdf star    # settings with a table: held-out risks
    python scripts/archive.py laptop identity.fig2c mixtures    # computed; a figure's random ones
    python scripts/archive.py laptop --name mine fig2e    # in files of this name
    python scripts/archive.py paper --tree /scratch/me fig2c    # made in another folder

Keeps a setting's risks (or `real`), bounds and prompt shares, and computed tables that are slow to
make, whichever of them exist. Other settings' results stay in the archive. The manifest records the
digest of this clone's code, so use the clone that trained. No rule runs this script: somebody
decides what is kept.
"""

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pyarrow as pa
import yaml
from decoupling import cli
from decoupling.config import Config
from decoupling.config.archive import COMPUTED, MANIFEST, TRAINED, Archive, records
from decoupling.errors import InputError
from decoupling.figures.provenance import commit
from decoupling.files import atomic_path
from decoupling.plan import archived, jobs
from decoupling.plan.code import code_digest
from decoupling.plan.read import load, of_clone
from decoupling.sources.table import owning_setting
from decoupling.tables import (
    BOUNDS,
    FIGURE_TABLES,
    SAMPLED,
    read_all,
    read_stamp,
    read_table,
    write_table,
)
from snakemake.utils import update_config

CLONE = Path(__file__).resolve().parents[1]
SCRIPTS = CLONE / "scripts"
ARCHIVE = Path("data/archive")
SCHEMAS = {"bounds": BOUNDS} | {name: schema for name, (schema, _) in FIGURE_TABLES.items()}
SCRIPT_OF = {"bayes": "bayes.py", "identity": "identity.py", "sampled": "sample.py"}
PACKAGES = ("numpy", "numba", "torch")  # with versions in the stamps of runs
PARTS = ("trained", "computed")  # of the manifest
MAIN = ("risks", "real")  # tables in the file without a suffix


def found(folder: Path, pattern: str) -> list[Path]:
    """The files that match a pattern; an error if there are none."""
    if not (files := sorted(folder.glob(pattern))):
        raise InputError([f"{folder}/{pattern} is no file; make the setting first"])
    return files


def cost(path: Path) -> dict[str, Any]:
    """Core-minutes and memory of one job, from Snakemake's benchmark file."""
    measured = pd.read_csv(path, sep="\t").iloc[0]
    *_, setting, n, _ = path.parts
    return {
        "setting": setting,
        "n": int(n.removeprefix("n")),
        "core_minutes": measured.cpu_time / 60,
        "max_rss_mb": measured.max_rss,
    }


def machine() -> str:
    """The processor, as the system calls it, and the number of cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor()
    return ", ".join(filter(None, [platform.machine(), processor, f"{os.cpu_count()} cores"]))


def made_by(tree: Path) -> dict[str, str | None]:
    """Commit and machine. The commit is null if sources have been edited since."""
    sources = ("Snakefile", "rules", "scripts", "config", "envs")
    known = commit(tree, sources) if (tree / ".git").exists() else commit(CLONE, sources)
    return {"commit": known["commit"] if known["clean"] else None, "machine": machine()}


@dataclass(frozen=True)
class Tree:
    """A folder with finished results, and the config that made them."""

    folder: Path
    config: Config
    protocol: str

    def path(self, table: str, name: str) -> Path:
        of = [] if table in COMPUTED else [self.protocol]
        return self.folder.joinpath("data", *of, table, f"{name}.parquet")

    def trained(self, name: str) -> list[str]:
        """The tables of a trained setting that exist."""
        return [table for table in TRAINED if self.path(table, name).exists()]

    def computed(self, name: str) -> list[str]:
        """The computed tables of a name that exist; mixtures are sampled for a figure."""
        tables = [t for t in ("bayes", "identity") if self.path(t, name).exists()]
        return tables + ["sampled"] * (self.folder / "data/sampled" / name).is_dir()

    def runs(self, name: str) -> list[Path]:
        part = ".fold*" if self.config.settings[name].folds else ""
        return found(self.folder / "data" / self.protocol, f"runs/{name}{part}/*/*.parquet")

    def costs(self, name: str) -> pd.DataFrame:
        part = ".fold*" if self.config.settings[name].folds else ""
        folder = self.folder / "benchmarks/results" / self.protocol
        costs = pd.DataFrame([cost(path) for path in found(folder, f"{name}{part}/*/*.tsv")])
        table = costs.groupby(["setting", "n"]).agg({"core_minutes": "sum", "max_rss_mb": "max"})
        return table.round(2).reset_index()

    def entry(self, name: str, files: Mapping[str, str]) -> dict[str, Any]:
        """The manifest's entry for a trained setting; an error if the config differs."""
        protocol, setting = self.config.protocols[self.protocol], self.config.settings[name]
        stamps = [read_stamp(path) for path in self.runs(name)]
        blocks = {stamp["runs"] for stamp in stamps}
        runs = records(run for block in sorted(blocks) for run in json.loads(block))
        spec = archived.digest(setting)
        if not setting.folds and {stamp["spec_digest"] for stamp in stamps} != {spec}:
            raise InputError([f"{name} was trained with other numbers than the config's"])
        made = {"files": dict(files), "spec": spec, "runs": runs, **made_by(self.folder)}
        if problem := archived.run_problem(protocol, setting, made):
            raise InputError([f"{problem}; run snakemake first"])
        (table,) = set(files) & set(MAIN)
        rows = read_table(self.path(table, name), SCHEMAS[table])
        minutes = self.costs(name).groupby("n").core_minutes.sum().round(2)
        trained = next(iter(setting.folds.values()), setting)
        loaded = jobs.modules(trained) + jobs.optimisers(protocol, trained)
        if setting.folds:
            made["folds"] = sorted({stamp["spec_digest"] for stamp in stamps})
        return made | {
            "n": sorted(map(int, rows.n.unique())),
            "code": code_digest(SCRIPTS / "train.py", *loaded),
            "versions": {
                key: sorted({stamp[key] for stamp in stamps if key in stamp})
                for key in PACKAGES
                if any(key in stamp for stamp in stamps)
            },
            "core_minutes": {str(n): float(value) for n, value in minutes.items()},
        }

    def computed_entry(self, table: str, name: str) -> tuple[dict[str, Any], list[Path]]:
        """The manifest's entry for a computed table, and the table's files."""
        made = {"code": code_digest(SCRIPTS / SCRIPT_OF[table]), **made_by(self.folder)}
        if table == "sampled":
            paths = found(self.folder / "data/sampled", f"{name}/*.parquet")
            numbers = read_all(paths, SAMPLED).mixture.unique()
            seed = self.config.figures[name].block["seed"]
            own = {"spec": archived.sampled_digest(seed), "mixtures": sorted(map(int, numbers))}
            return {"file": f"sampled_{name}", **made, **own}, paths
        path = self.path(table, name)
        lengths = sorted(map(int, read_table(path, SCHEMAS[table]).n.unique()))
        spec = archived.digest(self.config.settings[name])
        return {"file": table, **made, "spec": spec, "n": lengths}, [path]


def keep(file: str, made: list[Path], schema: pa.Schema, owners: Iterable[str]) -> None:
    """Replace these settings' rows in a file of the archive."""
    path = ARCHIVE / f"{file}.parquet"
    rows = read_all(made, schema)
    if "setting" in rows:
        if path.exists():
            rows = _replaced(read_table(path, schema), rows, owners)
        rows = rows.sort_values("setting", kind="stable")
    write_table(path, rows.to_dict("records"), schema)


def keep_costs(file: str, table: pd.DataFrame, owners: Iterable[str]) -> None:
    path = ARCHIVE / f"{file}_costs.csv"
    if path.exists():
        table = _replaced(pd.read_csv(path), table, owners)
    with atomic_path(path) as temporary:
        table.sort_values(["setting", "n"]).to_csv(temporary, index=False)


def _replaced(old: pd.DataFrame, new: pd.DataFrame, owners: Iterable[str]) -> pd.DataFrame:
    return pd.concat([old[~old.setting.map(owning_setting).isin(list(owners))], new])


def file_of(archive: Archive, protocol: str, name: str, tables: Iterable[str]) -> str:
    """The default of `--name` for a setting, see NAME."""
    if known := archive.trained.get(protocol, {}).get(name):
        return next(known["files"][table] for table in MAIN if table in known["files"])
    figure, _, derived = name.partition(".")
    return "real" if "real" in tables else figure if derived else protocol


def read_config(tree: Path, files: Iterable[Path]) -> Config:
    """The config as the workflow reads it."""
    own, raw = tree / "config/config.yaml", {}
    for file in (own if own.exists() else CLONE / "config/config.yaml", *files):
        update_config(raw, yaml.safe_load(file.read_text()))
    return load(raw, **of_clone(CLONE))


def add(wanted: dict, file: str, table: str, paths: list[Path], owner: str) -> None:
    files, owners = wanted.setdefault((file, table), ([], []))
    files += paths
    owners.append(owner)


def text(archive: Mapping[str, Any]) -> str:
    """The manifest's text, with a line for each key of an entry."""
    lines = ["{"]
    for part, ends in (("trained", ",\n"), ("computed", "\n")):
        lines.append(f'"{part}": {{')
        groups = []
        for group, entries in sorted(archive[part].items()):
            shown = [f'"{name}": {_entry(entries[name])}' for name in sorted(entries)]
            groups.append(f'"{group}": {{\n' + ",\n".join(shown) + "\n}")
        lines.append(",\n".join(groups) + "\n}" + ends.rstrip("\n"))
    return "\n".join([*lines, "}"]) + "\n"


def _entry(entry: Mapping[str, Any]) -> str:
    shown = []
    for key in sorted(entry):
        value = json.dumps(entry[key], ensure_ascii=False, sort_keys=True)
        if key == "runs":
            runs = (json.dumps(run, ensure_ascii=False, sort_keys=True) for run in entry[key])
            value = "[\n    " + ",\n    ".join(runs) + "]"
        shown.append(f'  "{key}": {value}')
    return "{\n" + ",\n".join(shown) + "}"


NAME = (
    "name of the files in data/archive; by default that of the entry it replaces, else `real` for a"
    " table, the figure of a derived setting, or the protocol"
)


@cli.command
def main(
    protocol: str,
    settings: Annotated[list[str], "or figures, whose mixtures were sampled"],
    /,
    name: Annotated[str, NAME] = "",
    tree: Annotated[Path, "the folder with data/ and benchmarks/results/"] = Path(),
    configfile: Annotated[list[Path], "the config files that Snakemake was given"] = (),
) -> None:
    made = Tree(tree, read_config(tree, configfile), protocol)
    archive = Archive.read(ARCHIVE)
    kept = {key: {k: dict(v) for k, v in getattr(archive, key).items()} for key in PARTS}
    wanted: dict[tuple[str, str], tuple[list[Path], list[str]]] = {}  # files by name and table
    costs: dict[str, list[pd.DataFrame]] = {}
    for one in settings:
        trained, computed = made.trained(one), made.computed(one)
        if not trained and not computed:
            raise InputError([f"{made.path('risks', one)} is no file; make the setting first"])
        if trained:
            file = name or file_of(archive, protocol, one, trained)
            main_table = next(table for table in reversed(MAIN) if table in trained)
            used = [t for t in trained if t == main_table or t not in MAIN]
            files = {t: file if t in MAIN else f"{file}_{t}" for t in used}
            kept["trained"].setdefault(protocol, {})[one] = made.entry(one, files)
            costs.setdefault(file, []).append(made.costs(one))
            for table, target in files.items():
                add(wanted, target, table, [made.path(table, one)], one)
        for table in computed:
            entry, paths = made.computed_entry(table, one)
            kept["computed"].setdefault(table, {})[one] = entry
            add(wanted, entry["file"], table, paths, one)
    ARCHIVE.mkdir(parents=True, exist_ok=True)
    for (file, table), (paths, owners) in wanted.items():
        keep(file, paths, SCHEMAS[table], owners)
        print(f"{ARCHIVE}/{file}.parquet: {', '.join(owners)}")
    for file, tables in costs.items():
        keep_costs(file, pd.concat(tables), settings)
    with atomic_path(ARCHIVE / MANIFEST) as temporary:
        temporary.write_text(text(kept))
