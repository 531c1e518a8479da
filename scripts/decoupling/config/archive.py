"""The archive of results: what its manifest says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .settings import Block

MANIFEST = "manifest.json"
TRAINED = ("risks", "bounds", "prompt_share", "real")  # tables of a protocol that are kept
COMPUTED = ("bayes", "identity", "sampled")  # tables of no protocol


@dataclass(frozen=True, eq=False)
class Archive:
    """What is archived, by whom and how it was made: `data/archive/manifest.json`.

    `trained` has an entry for each protocol and setting, `computed` for each table and name.
    """

    trained: Mapping[str, Mapping[str, Block]] = field(default_factory=dict)
    computed: Mapping[str, Mapping[str, Block]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Archive:
        """The archive in a folder, which may not have one yet."""
        path = folder / MANIFEST
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def entry(self, protocol: str, table: str, name: str) -> Block | None:
        """What is known of a table of a setting (of sampled mixtures: of a figure)."""
        if table in COMPUTED:
            return self.computed.get(table, {}).get(name)
        found = self.trained.get(protocol, {}).get(name)
        return found if found and table in found["files"] else None

    def made_by(self, protocol: str, settings: Iterable[str]) -> str:
        """The commits that trained these settings, in short, in words; nothing if not known."""
        known = self.trained.get(protocol, {})
        found = {known.get(name, {}).get("commit") for name in settings}
        commits = sorted(commit[:7] for commit in found if commit)
        if not commits:
            return ""
        return f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}"


def text(archive: Mapping[str, Any]) -> str:
    """The manifest's text: a line for an entry's every key."""
    lines = ["{"]
    for part, ends in (("trained", ",\n"), ("computed", "\n")):
        lines.append(f'"{part}": {{')
        groups = []
        for group, entries in sorted(archive[part].items()):
            shown = [f'"{name}": {_entry(entries[name])}' for name in sorted(entries)]
            groups.append(f'"{group}": {{\n' + ",\n".join(shown) + "\n}")
        lines.append(",\n".join(groups) + "\n}" + ends.rstrip("\n"))
    return "\n".join([*lines, "}"]) + "\n"


def _entry(entry: Block) -> str:
    shown = []
    for key in sorted(entry):
        value = json.dumps(entry[key], ensure_ascii=False, sort_keys=True)
        if key == "runs":
            runs = (json.dumps(run, ensure_ascii=False, sort_keys=True) for run in entry[key])
            value = "[\n    " + ",\n    ".join(runs) + "]"
        shown.append(f'  "{key}": {value}')
    return "{\n" + ",\n".join(shown) + "}"
