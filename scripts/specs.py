"""Expand a setting's block of the config into numbers."""

import argparse
import json
from pathlib import Path

from decoupling.expand import mixture_from_config
from decoupling.results import atomic_path

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--block", required=True, type=json.loads, help="the block, as JSON")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    mix = mixture_from_config(args.name, args.block)
    with atomic_path(args.output) as temporary:
        temporary.write_text(mix.to_json())
