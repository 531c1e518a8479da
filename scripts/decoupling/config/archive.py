"""The archive of results, as its manifest describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..train.recipe import Recipe
from .settings import Block

MANIFEST = "manifest.json"
TRAINED = ("risks", "bounds", "prompt_share", "real")  # tables of a protocol that are kept
COMPUTED = ("bayes", "identity", "sampled")  # tables of no protocol
DEFAULTS = json.loads(json.dumps({one.name: one.default for one in fields(Recipe)}))


@dataclass(frozen=True, eq=False)
class Archive:
    """The manifest, `data/archive/manifest.json`: the archived tables, and how they were made.

    `trained` has an entry for each protocol and setting, `computed` for each table and name.
    """

    trained: Mapping[str, Mapping[str, Block]] = field(default_factory=dict)
    computed: Mapping[str, Mapping[str, Block]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Archive:
        """The archive in a folder; an empty one if the folder has no manifest yet."""
        path = folder / MANIFEST
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def entry(self, protocol: str, table: str, name: str) -> Block | None:
        """The entry for a setting's table (for sampled mixtures: a figure's), if there is one."""
        if table in COMPUTED:
            return self.computed.get(table, {}).get(name)
        found = self.trained.get(protocol, {}).get(name)
        return found if found and table in found["files"] else None

    def made_by(self, protocol: str, settings: Iterable[str]) -> str:
        """The commits that trained these settings, in short; empty if not known."""
        known = self.trained.get(protocol, {})
        found = {known.get(name, {}).get("commit") for name in settings}
        commits = sorted(commit[:7] for commit in found if commit)
        if not commits:
            return ""
        earlier = " and earlier" if None in found else ""  # older entries have no commit
        return f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}{earlier}"


def records(runs: Iterable[Block]) -> list[dict[str, Any]]:
    """Runs in short form: each recipe, without its defaults, with the curves that it trains. Blocks
    of seeds are joined."""
    how: dict[str, dict[str, Any]] = {}
    for run in runs:
        name, recipe = curve_of(run), run["recipe"].items()
        seeds = max(run["seeds"], how.get(name, run)["seeds"])
        own = {key: value for key, value in recipe if (key, value) not in DEFAULTS.items()}
        how[name] = {"seeds": seeds, "recipe": own}
    found: dict[str, dict[str, Any]] = {}
    for name, made in sorted(how.items()):
        text = json.dumps(made, sort_keys=True)
        found.setdefault(text, {"curves": [], **made})["curves"].append(name)
    return list(found.values())


def curve_of(run: Block) -> str:
    """A curve's name within its setting."""
    curve = run["curve"]
    words = [f"{curve['model']}/{curve['layers']}/{curve['arm']}"]
    words += [f"{key}={size}" for key, size in sorted(map(tuple, curve["sizes"]))]
    return " ".join([*words, *([] if run["reported"] else ["unreported"])])


def by_curve(runs: Iterable[Block]) -> dict[str, Block]:
    """Seeds and recipe of every curve."""
    return {
        name: {"seeds": run["seeds"], "recipe": run["recipe"]}
        for run in runs
        for name in run["curves"]
    }


def differing(one: Block, other: Block) -> Iterable[str]:
    """The keys in which seeds and recipes of two runs differ."""
    if one["seeds"] != other["seeds"]:
        yield "seeds"
    for key in {**one["recipe"], **other["recipe"]}:
        if one["recipe"].get(key) != other["recipe"].get(key):
            yield key
