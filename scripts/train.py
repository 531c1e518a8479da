"""Train every run of one (setting, n) for a block of seeds."""

import argparse
import json
import logging
import os
import sys
from importlib.metadata import version
from pathlib import Path

from decoupling import sources
from decoupling.engines.base import DeviceError
from decoupling.tables import PARAMETERS, RUNS, write_table
from decoupling.train.checkpoint import Checkpoint
from decoupling.train.loop import train
from decoupling.train.recipe import Run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="what kind of spec it is")
    parser.add_argument("--spec", required=True, type=Path)
    parser.add_argument("--files", nargs="*", default=[], help="what contexts are drawn from")
    parser.add_argument("--n", required=True, type=int)
    parser.add_argument("--seeds", required=True, type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--protocol", required=True, help="its name, for the file's metadata")
    parser.add_argument("--runs", required=True, help="what is trained and how, as JSON")
    parser.add_argument("--code", required=True, help="digest of the code that this job uses")
    parser.add_argument("--threads", required=True, type=int)
    parser.add_argument("--device", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--parameters", required=True, type=Path, help="the best seeds'")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")

    contexts = sources.load(args.source).read(args.spec.read_text(), args.n, *args.files)
    stamp = {
        "protocol": args.protocol,
        "device": args.device,
        "runs": args.runs,
        "spec_digest": contexts.spec.fingerprint,
        "n": str(args.n),
        "seeds": f"{args.seeds[0]}-{args.seeds[1]}",
        **{name: version(name) for name in ("numpy", "numba")},
    }
    checkpoint = Checkpoint(
        args.output.with_suffix(".checkpoint"),
        json.dumps(stamp | {"code": args.code}),
        every_seconds=float(os.environ.get("CHECKPOINT_SECONDS", "60")),
    )
    try:
        trained = train(
            contexts,
            [Run.from_dict(fields) for fields in json.loads(args.runs)],
            range(args.seeds[0], args.seeds[1] + 1),
            checkpoint=checkpoint,
            device=args.device,
            threads=args.threads,
        )
    except DeviceError as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        sys.exit("This job needs torch, which is not installed: make torch")
    if "torch" in sys.modules:
        stamp["torch"] = version("torch")
    write_table(args.parameters, trained.parameters, PARAMETERS, stamp)
    write_table(args.output, trained.rows, RUNS, stamp)
    checkpoint.delete()
