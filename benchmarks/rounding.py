"""What rounding alone does to trained risks, as CSV.

    python benchmarks/rounding.py [--n 10] [--seeds 50] > data/archive/rounding.csv

Trains fig2c's four arms by protocol `laptop` twice, the second time with every initial parameter
moved to the next number that double precision has: by about 10⁻¹⁶ of its size. A row per arm: how
much that changes the best seed's risk, and the median seed's.
"""

from __future__ import annotations

import argparse
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
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from shorter import add_share, shorter  # noqa: E402


def moved(model: Model, *args: object) -> dict[str, np.ndarray]:
    values = initial_values(model, *args)
    return {name: np.nextafter(value, np.inf) for name, value in values.items()}


initial_values = Model.initial_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=50)
    add_share(parser)
    args = parser.parse_args()
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    setting = config.settings["fig2c"]
    contexts = GaussianContexts(make_spec("fig2c", setting.block), args.n)
    runs = [config.protocol.run(curve) for curve in setting.curves]
    runs = [replace(run, recipe=shorter(run.recipe, args.share)) for run in runs]
    plain = pd.DataFrame(train(contexts, runs, range(args.seeds)).rows)
    with mock.patch.object(Model, "initial_values", moved):
        other = pd.DataFrame(train(contexts, runs, range(args.seeds)).rows)
    print("arm,best,median")
    for arm in setting.arms:
        one, two = (rows[rows.arm == arm].risk for rows in (plain, other))
        changes = (two.min() / one.min() - 1, two.median() / one.median() - 1)
        print(arm, *(f"{change:.1e}" for change in changes), sep=",")


if __name__ == "__main__":
    main()
