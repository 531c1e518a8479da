"""Whether protocol `laptop` reaches the numerical optimum in mixtures it was not tuned on, as CSV.

    python benchmarks/random_mixtures.py [--count 6] [--n 2 12] > data/archive/random_mixtures.csv

Trains one-layer attention in random mixtures (K = 1 … 4, d = 1 … 8; those of the figure `mixtures`
from number 1000 on, which the figure does not show) and compares the best and the median of 50
seeds with the optimum. `within` counts the seeds that end less than 1% above it, `values` the
different risks, to six digits of the optimum, that seeds end at: few where there are other minima,
many where seeds are still on their way.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling.models import arms  # noqa: E402
from decoupling.models.curve import Curve  # noqa: E402
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.theory.optimum import optima  # noqa: E402
from decoupling.theory.random_mixtures import draw_mixture  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from shorter import add_share, shorter  # noqa: E402

ARMS = ("plain", "shared", "finetune", "joint", "joint_heads")
FIRST = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--n", type=int, nargs="+", default=[2, 12])
    parser.add_argument("--seeds", type=int, default=50)
    add_share(parser)
    args = parser.parse_args()
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    seed = config.figures["mixtures"].block["seed"]
    print("mixture,d,K,noise_var,n,arm,best,median,within,values")
    for index in range(FIRST, FIRST + args.count):
        mix, _ = draw_mixture(seed, index)
        for n in args.n:
            curves = [
                Curve(mix.name, "attention", "attention", 1, arm, arms.ARMS[arm].trains)
                for arm in ARMS
            ]
            runs = [config.protocol.run(curve) for curve in curves]
            runs = [replace(run, recipe=shorter(run.recipe, args.share)) for run in runs]
            rows = pd.DataFrame(train(GaussianContexts(mix, n), runs, range(args.seeds)).rows)
            best = optima(mix, n)
            for arm in ARMS:
                risks = rows[rows.arm == arm].risk / best[arm] - 1
                about = (index, mix.dim, mix.tasks, f"{mix.noise_var:.3g}", n, arm)
                ends = (int((risks < 0.01).sum()), risks.round(6).nunique())
                found = (f"{risks.min():.2e}", f"{risks.median():.2e}", *ends)
                print(*about, *found, sep=",", flush=True)


if __name__ == "__main__":
    main()
