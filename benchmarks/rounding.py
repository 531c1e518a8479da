"""What rounding alone does to trained risks, as CSV.

    python benchmarks/rounding.py [--n 10] [--seeds 50] > data/archive/rounding.csv

Trains fig2c's four arms by protocol `laptop` twice, the second time with every initial parameter
moved to the next number that double precision has: by about 10⁻¹⁶ of its size. A row per arm: how
much that changes the best seed's risk, and the median seed's.

    python benchmarks/rounding.py --processors --settings fig2c fig2a --n 1 10 50 > …_processors.csv

Trains each of these settings at these of its n as on this processor and as on two older ones, whose
sums are rounded differently. A row per curve: the same of the one that differs more.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling.models import Model  # noqa: E402
from decoupling.plan.jobs import setting_runs  # noqa: E402
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from shorter import add_share, shorter  # noqa: E402


def moved(model: Model, *args: object) -> dict[str, np.ndarray]:
    values = initial_values(model, *args)
    return {name: np.nextafter(value, np.inf) for name, value in values.items()}


initial_values = Model.initial_values

PROCESSORS = (  # as in the Makefile
    {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"},
    {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
        "NUMBA_CPU_NAME": "nehalem",
    },
)
CURVE = ["model", "layers", "arm"]


def trained(name: str, n: int, seeds: int, share: float) -> pd.DataFrame:
    """A row per run."""
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    setting = config.settings[name]
    contexts = GaussianContexts(make_spec(name, setting.block), n)
    runs = setting_runs(config.protocol, setting)
    runs = [replace(run, recipe=shorter(run.recipe, share)) for run in runs]
    return pd.DataFrame(train(contexts, runs, range(min(seeds, max(r.seeds for r in runs)))).rows)


def elsewhere(processor: dict[str, str], name: str, n: int, args: argparse.Namespace):
    """The same as on another processor, whose names NumPy and OpenBLAS read when they start."""
    command = [sys.executable, __file__, "--rows", "--settings", name, "--n", str(n)]
    command += ["--seeds", str(args.seeds), "--share", str(args.share)]
    done = subprocess.run(command, env=os.environ | processor, check=True, capture_output=True)
    return pd.read_csv(io.BytesIO(done.stdout))


def changes(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Of every curve: the best seed's, chosen as it is, and the median seed's, relative."""
    found = []
    for rows in (one, other):
        ok = rows[rows.status == "ok"]
        best = ok.loc[ok.groupby(CURVE, sort=False).selection_risk.idxmin()].set_index(CURVE).risk
        median = ok.groupby(CURVE, sort=False).risk.median()
        found.append(pd.DataFrame({"best": best, "median": median}))
    return found[1] / found[0] - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="+", default=["fig2c"])
    parser.add_argument("--n", type=int, nargs="+", default=[10])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--processors", action="store_true")
    parser.add_argument("--rows", action="store_true", help="print what was trained")
    add_share(parser)
    args = parser.parse_args()
    if args.processors:
        return on_processors(args)
    here = trained(args.settings[0], args.n[0], args.seeds, args.share)
    if args.rows:
        return here.to_csv(sys.stdout, index=False)
    with mock.patch.object(Model, "initial_values", moved):
        found = changes(here, trained(args.settings[0], args.n[0], args.seeds, args.share))
    print("arm,best,median")
    for (_, _, arm), row in found.iterrows():
        print(arm, f"{row.best:.1e}", f"{row['median']:.1e}", sep=",")


def on_processors(args: argparse.Namespace) -> None:
    print("setting,n,model,layers,arm,best,median", flush=True)
    for name in args.settings:
        for n in args.n:
            here = elsewhere({}, name, n, args)
            found = [changes(here, elsewhere(made, name, n, args)) for made in PROCESSORS]
            largest = pd.concat(found).abs().groupby(level=CURVE, sort=False).max()
            for curve, row in largest.iterrows():
                values = (f"{row.best:.1e}", f"{row['median']:.1e}")
                print(name, n, *curve, *values, sep=",", flush=True)


if __name__ == "__main__":
    main()
