"""Train every run of one (setting, n) for a block of seeds."""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

from decoupling import cli, sources
from decoupling.errors import InputError
from decoupling.tables import PARAMETERS, RUNS, write_table
from decoupling.train.checkpoint import Checkpoint
from decoupling.train.loop import train
from decoupling.train.recipe import Run


@cli.command
def main(
    source: str,
    spec: Path,
    n: int,
    seeds: Annotated[tuple[int, int], "the first and the last"],
    protocol: Annotated[str, "its name, for the file's metadata"],
    runs: Annotated[str, "what is trained and how, as JSON"],
    code: Annotated[str, "digest of the code that this job uses"],
    threads: int,
    device: Literal["cpu", "cuda"],
    output: Path,
    parameters: Annotated[Path, "the best seeds'"],
    files: Annotated[list[str], "tables that contexts are drawn from"] = (),
) -> None:
    contexts = sources.load(source).read(spec.read_text(), n, *files)
    first, last = seeds
    stamp = {
        "protocol": protocol,
        "device": device,
        "runs": runs,
        "spec_digest": contexts.spec.fingerprint,
        "n": str(n),
        "seeds": f"{first}-{last}",
        **{name: version(name) for name in ("numpy", "numba")},
    }
    checkpoint = Checkpoint(
        output.with_suffix(".checkpoint"),
        json.dumps(stamp | {"code": code}),
        every_seconds=float(os.environ.get("CHECKPOINT_SECONDS", "60")),
    )
    try:
        trained = train(
            contexts,
            [Run.from_dict(fields) for fields in json.loads(runs)],
            range(first, last + 1),
            checkpoint=checkpoint,
            device=device,
            threads=threads,
        )
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(["This job needs torch, which is not installed: make torch"]) from error
    if "torch" in sys.modules:
        stamp["torch"] = version("torch")
    write_table(parameters, trained.parameters, PARAMETERS, stamp)
    write_table(output, trained.rows, RUNS, stamp)
    checkpoint.delete()
