"""Compare what this machine trained with the archive. Nothing is trained."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from decoupling import cli
from decoupling.analysis import verify
from decoupling.config.archive import Archive, by_curve, differing, records
from decoupling.config.settings import Block
from decoupling.files import atomic_path
from decoupling.tables import REAL, RISKS, VERIFY, read_stamp, read_table, write_table

SCHEMAS = {"risks": RISKS, "real": REAL}
Rows = list[dict[str, Any]]


def _stamps(name: str, kind: str, own: Path) -> list[dict[str, str]]:
    """The metadata of a setting's runs; with a table, of its folds' runs."""
    part = ".fold*" if kind == "real" else ""
    return [read_stamp(file) for file in own.parents[1].glob(f"runs/{name}{part}/*/*.parquet")]


def _unlike(name: str, kind: str, entry: Block, own: Path, spec: str | None) -> str:
    """The reason why a setting cannot be compared; empty if it can."""
    trained = {stamp["spec_digest"] for stamp in _stamps(name, kind, own)}
    if not trained:
        return "whose runs are not there"
    if spec != entry["spec"] or (kind == "risks" and trained != {spec}):
        return "whose setting is not as archived"
    return ""


def _compared(
    entry: Block,
    tables: tuple[pd.DataFrame, pd.DataFrame],
    stamps: list[dict[str, str]],
    tolerances: verify.Tolerances,
) -> tuple[Rows, str]:
    """Rows of the curves that were trained as archived, and the reason why others are left out."""
    blocks = sorted({stamp["runs"] for stamp in stamps})
    mine = _by_curve(records(run for block in blocks for run in json.loads(block)))
    kept = _by_curve(entry["runs"])
    one, other = verify.common(*tables)
    curves = [f"{row.model}/{row.layers}/{row.arm}" for row in one.itertuples()]
    same = [curve in mine and mine[curve] == kept.get(curve) for curve in curves]
    contexts = {stamp["spec_digest"] for stamp in stamps}
    if "median" in one:
        points = zip(one.to_dict("records"), curves, strict=True)
        kinds = [verify.kind(point, kept[c]["recipe"]) if c in kept else "" for point, c in points]
    else:
        kinds = [verify.held_out_kind(sorted(contexts) == entry.get("folds"))] * len(one)
    chosen = [kind for kind, wanted in zip(kinds, same, strict=True) if wanted]
    keys = {key for c in mine.keys() & kept.keys() for key in differing(mine[c], kept[c])}
    reason = f"partly or all by another recipe ({', '.join(sorted(keys))})" if keys else ""
    return verify.compare(one[same], other[same], chosen, tolerances), reason


def _by_curve(runs: list[Block]) -> Mapping[str, Block]:
    """Seeds and recipe by curve, named as in rows: without its sizes."""
    return {name.split()[0]: how for name, how in by_curve(runs).items()}


@cli.command
def main(
    protocol: str,
    specs: Annotated[dict, "digests of the config's settings, as JSON"],
    archive: Path,
    table: Path,
    markdown: Path,
) -> None:
    entries = Archive.read(archive).trained.get(protocol, {})
    tolerances = verify.read_tolerances(archive / "tolerances.csv")
    found: Rows = []
    others = []
    for name, entry in sorted(entries.items()):
        (kind,) = SCHEMAS.keys() & entry["files"].keys()
        own = Path("data") / protocol / kind / f"{name}.parquet"
        if not own.exists():
            continue
        if reason := _unlike(name, kind, entry, own, specs.get(name)):
            others.append(f"{name}, {reason}")
            continue
        kept = read_table(archive / f"{entry['files'][kind]}.parquet", SCHEMAS[kind])
        tables = kept[kept.setting == name], read_table(own, SCHEMAS[kind])
        rows, reason = _compared(entry, tables, _stamps(name, kind, own), tolerances)
        found += rows
        others += [f"{name}, {reason}"] if reason else []
    write_table(table, found, VERIFY)
    with atomic_path(markdown) as temporary:
        page = verify.markdown(pd.DataFrame(found, columns=VERIFY.names), others, protocol)
        temporary.write_text(page)
