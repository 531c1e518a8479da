"""Expand a setting's block of the config into numbers."""

import argparse
import json
from importlib import import_module
from pathlib import Path

from decoupling.results.files import atomic_path

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="which of decoupling/sources reads it")
    parser.add_argument("--name", required=True)
    parser.add_argument("--block", required=True, type=json.loads, help="the block, as JSON")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    spec = import_module(f"decoupling.sources.{args.source}.block").make_spec(args.name, args.block)
    with atomic_path(args.output) as temporary:
        temporary.write_text(spec.to_json())
