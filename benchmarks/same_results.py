"""Whether an edit changes results: the same targets made by two trees, compared file by file.

    python benchmarks/same_results.py COMMIT [--protocol smoke] [--scratch FOLDER] [TARGET …]

Makes the targets (by default every figure) with the committed tree COMMIT and with the tree as it
is, each in a folder of its own. Tables are compared by content, in the columns that both have;
everything else byte by byte. Prints a line for every file that differs and ends with exit code 1 if
there is one. A scratch folder is used again: what is there and up to date is not made anew.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parent.parent


def checked_out(commit: str, folder: Path) -> Path:
    """The tree of a commit."""
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
    return folder


def make(tree: Path, results: Path, protocol: str, targets: list[str]) -> Path:
    results.mkdir(parents=True, exist_ok=True)
    place = ["--snakefile", tree / "Snakefile", "--directory", results]
    command = [
        sys.executable,
        "-m",
        "snakemake",
        *place,
        "--cores",
        "2",
        "--config",
        f"protocol={protocol}",
    ]
    subprocess.run([*command, "--", *targets], check=True)
    return results


def files(results: Path) -> set[Path]:
    found = (path for name in ("data", "figures") for path in (results / name).rglob("*"))
    return {path.relative_to(results) for path in found if path.is_file()}


def differences(before: Path, after: Path) -> Iterator[str]:
    """A line for every file that is not the same."""
    for path in sorted(files(before) ^ files(after)):
        yield f"{path}: only {'before' if (before / path).exists() else 'after'}"
    for path in sorted(files(before) & files(after)):
        one, two = before / path, after / path
        if path.suffix == ".parquet":
            yield from (f"{path}: {text}" for text in _table_differences(one, two))
        elif one.read_bytes() != two.read_bytes():
            yield f"{path}: other bytes"


def _table_differences(one: Path, two: Path) -> Iterator[str]:
    before, after = pd.read_parquet(one), pd.read_parquet(two)
    if missing := set(before.columns) - set(after.columns):
        yield f"lacks {', '.join(sorted(missing))}"
    if len(before) != len(after):
        yield f"{len(after)} rows instead of {len(before)}"
        return
    for column in before.columns.intersection(after.columns):
        try:
            pd.testing.assert_series_equal(before[column], after[column], rtol=0, atol=0)
        except AssertionError:
            yield f"{column} differs{_how_far(before[column], after[column])}"


def _how_far(before: pd.Series, after: pd.Series) -> str:
    if not pd.api.types.is_float_dtype(before):
        return ""
    return f", by {((after - before) / before).abs().max():.1e} at most"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("targets", nargs="*", help="all figures where left out")
    parser.add_argument("--protocol", default="smoke")
    parser.add_argument("--scratch", type=Path, default=ROOT / "benchmarks/results/same")
    args = parser.parse_intermixed_args()  # targets may follow options
    tree = checked_out(args.commit, args.scratch / "tree")
    before = make(tree, args.scratch / "before", args.protocol, args.targets)
    after = make(ROOT, args.scratch / "after", args.protocol, args.targets)
    found = list(differences(before, after))
    print(*found, sep="\n")
    print(f"{len(files(before))} files before, {len(files(after))} after; {len(found)} differences")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
