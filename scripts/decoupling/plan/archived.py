"""Results from the archive: their place in it, and whether they match the config."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ..config import Config
from ..config.archive import COMPUTED, TRAINED, by_curve, curve_of, differing, records
from ..config.protocols import Protocol
from ..config.settings import Block, Setting
from ..sources.table import owning_setting
from .jobs import canonical_json, fingerprint, seed_blocks, setting_runs


def folders(config: Config) -> list[str]:
    """The folders of data/archived that can be filled."""
    return [*(f"{name}/{table}" for name in config.protocols for table in TRAINED), *COMPUTED]


def digest(setting: Setting) -> str:
    """Identifies a setting's data: its numbers, or the way its table is used."""
    if setting.has_mixture:
        return fingerprint(setting)
    return _digest({"block": setting.block, "longest": max(setting.n)})


def sampled_digest(seed: int) -> str:
    return _digest({"seed": seed})


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def runs_of(protocol: Protocol, setting: Setting) -> list[dict[str, Any]]:
    """The runs by which a protocol trains a setting, in the manifest's form."""
    trained = setting.folds.values() or [setting]
    found = [asdict(run) for one in trained for run in setting_runs(protocol, one)]
    return records(json.loads(json.dumps(found)))


def source(config: Config, folder: str, name: str) -> dict[str, Any]:
    """A table's place in the archive: its file, and the rows to cut out of it."""
    protocol, table, owner = _parts(folder, name)
    entry = config.archive.entry(protocol, table, owner)
    if table == "sampled":
        first, last = map(int, name.partition("/")[2].split("-"))
        rows = {"mixture": list(range(first, last + 1))}
    else:
        rows = {"setting": [name], "n": sorted(config.settings[name].n)}
    file = "" if entry is None else entry.get("file") or entry["files"][table]
    return {"file": file, "rows": rows}


def _parts(folder: str, name: str) -> tuple[str, str, str]:
    """Protocol, table, and the table's setting or figure."""
    protocol, _, table = folder.rpartition("/")
    return protocol, table, name.partition("/")[0]


def problem(config: Config, folder: str, name: str) -> str:
    """The reason why a table cannot be taken from the archive; empty if it can."""
    protocol, table, owner = _parts(folder, name)
    entry = config.archive.entry(protocol, table, owner)
    if entry is None:
        return f"{owner} is not archived ({folder})"
    if table == "sampled":
        seed = config.figures[owner].block["seed"]
        missing = set(source(config, folder, name)["rows"]["mixture"]) - set(entry["mixtures"])
        changed = entry["spec"] != sampled_digest(seed) or missing
        return f"figures.{owner} is not as archived (seed or count)" if changed else ""
    setting = config.settings[owner]
    if entry["spec"] != digest(setting):
        return f"settings.{owner} is not as archived"
    missing = sorted(set(setting.n) - set(entry["n"]))
    if missing:
        lengths = ", ".join(map(str, missing))
        return f"{owner} is not archived at n = {lengths} ({folder})"
    if table in COMPUTED:
        return ""
    return run_problem(config.protocols[protocol], setting, entry)


def run_problem(protocol: Protocol, setting: Setting, entry: Block) -> str:
    """The reason why archived runs are not those of the config: missing curves, or another recipe;
    empty if there is none."""
    kept = by_curve(entry["runs"])
    wanted = by_curve(runs_of(protocol, setting))
    if missing := [name for name in wanted if name not in kept]:
        return f"{setting.name} is not archived with {', '.join(missing)}"
    changed = {name for name in wanted if wanted[name] != kept[name]}
    if not changed:
        return ""
    keys = sorted({key for name in changed for key in differing(wanted[name], kept[name])})
    recipes = sorted({*_recipes(protocol, setting, changed)})
    return (
        f"{setting.name} was trained by another recipe than {' or '.join(recipes)}"
        f" ({', '.join(keys)})"
    )


def _recipes(protocol: Protocol, setting: Setting, names: Iterable[str]) -> Iterable[str]:
    trained = setting.folds.values() or [setting]
    for run in (run for one in trained for run in setting_runs(protocol, one)):
        if curve_of(json.loads(json.dumps(asdict(run)))) in names:
            yield f"protocols.{protocol.name}.{protocol.recipe_of(run.curve)}"


def expected(config: Config, trainings: Iterable[Any], cores: int | None) -> str:
    """A line on the cost of these training jobs, each with a `protocol`, `setting` and `n`. The
    time of jobs archived by the current recipe is known. `cores` is the number of cores of this
    run; None if jobs are submitted."""
    found = [_core_minutes(config, job.protocol, job.setting, job.n) for job in trainings]
    known = [minutes for minutes in found if minutes is not None]
    count = f"{len(found)} training{'s' if len(found) > 1 else ''}"
    if not known:
        return f"{count}; the archive does not know the time."
    about = f"about {sum(known):.1f} core-minutes, as on the machine of the archive"
    if cores and cores > 1:
        about += f": {max(sum(known) / cores, *known):.1f} minutes on {cores} cores"
    rest = len(found) - len(known)
    return f"{count}, {about}{f'; the time of {rest} is not known' if rest else ''}."


def _core_minutes(config: Config, protocol: str, setting: str, n: str) -> float | None:
    """Core-minutes of one training job, if known; folds and blocks of seeds count as equal
    parts."""
    made, used = config.settings[setting], config.protocols[protocol]
    whole = config.settings[owning_setting(setting)]
    entry = config.archive.trained.get(protocol, {}).get(whole.name)
    if not entry or n not in entry["core_minutes"] or entry["spec"] != digest(whole):
        return None
    if not _as_archived(used, whole, canonical_json(entry["runs"])):
        return None
    parts = max(1, len(whole.folds)) * len(seed_blocks(used, made))
    return entry["core_minutes"][n] / parts


@cache
def _as_archived(protocol: Protocol, setting: Setting, recorded: str) -> bool:
    """Whether a setting is trained as recorded. Cached, as a setting has many jobs."""
    return not run_problem(protocol, setting, {"runs": json.loads(recorded)})


def digests(config: Config) -> dict[str, str]:
    """Digests of the settings that the active protocol has in the archive."""
    kept = config.archive.trained.get(config.protocol.name, {})
    return {name: digest(config.settings[name]) for name in kept if name in config.settings}


def trained_digest(folder: Path) -> str:
    """Identifies this machine's results by the content of their tables."""
    files = sorted(f for table in ("risks", "real") for f in folder.glob(f"{table}/*.parquet"))
    return _digest([(str(f), hashlib.sha256(f.read_bytes()).hexdigest()) for f in files])
