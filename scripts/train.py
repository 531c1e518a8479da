"""Train every arm of one (setting, n) for a block of seeds."""

import argparse
import hashlib
import json
import logging
import os
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import torch
from decoupling.checkpoint import Checkpoint
from decoupling.recipes import Recipe, Task
from decoupling.results import RUNS, write_table
from decoupling.spec import TaskMixture
from decoupling.training import train


def code_digest() -> str:
    """Of everything a checkpoint's meaning may depend on: the library's sources."""
    digest = hashlib.sha256()
    for source in sorted((Path(__file__).parent / "decoupling").glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def parse_task(fields: dict) -> Task:
    return Task(**(fields | {"recipe": Recipe(**fields["recipe"])}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--n", required=True, type=int)
    parser.add_argument("--seeds", required=True, type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--protocol", required=True, help="its name, for the file's metadata")
    parser.add_argument("--tasks", required=True, help="what is trained and how, as JSON")
    parser.add_argument("--threads", required=True, type=int)
    parser.add_argument("--device", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(args.threads)
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("The protocol asks for device cuda, but torch finds none here; use device: cpu")

    mix = TaskMixture.from_json(args.spec.read_text())
    tasks = [parse_task(fields) for fields in json.loads(args.tasks)]
    stamp = {
        "protocol": args.protocol,
        "device": args.device,
        "tasks": args.tasks,
        "spec_digest": mix.digest,
        "n": str(args.n),
        "seeds": f"{args.seeds[0]}-{args.seeds[1]}",
        **{name: version(name) for name in ("numpy", "torch")},
    }
    checkpoint = Checkpoint(
        args.output.with_suffix(".checkpoint"),
        json.dumps(stamp | {"code": code_digest()}),
        every_seconds=float(os.environ.get("CHECKPOINT_SECONDS", "60")),
    )
    seeds = range(args.seeds[0], args.seeds[1] + 1)
    rows = train(mix, args.n, tasks, seeds, checkpoint=checkpoint, device=args.device)
    write_table(args.output, pd.DataFrame(rows), RUNS, stamp)
    checkpoint.delete()
