"""Best seeds of one layer over their optimum, far from the paper's sizes, as a Markdown table.

    python benchmarks/standard_units.py [--dims 20 50] [--n 1 100 10000] [--tasks 2 8] [--seeds 8]

By protocol laptop. Isotropic settings have multiples of the identity and of the vector of ones; the
others covariances with a condition number of 1.03^d, and random means. σ² = 1.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling.models.arms import ARMS  # noqa: E402
from decoupling.models.curve import Curve  # noqa: E402
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.problem.mixture import TaskMixture  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.theory.optimum import optima  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from decoupling.train.recipe import Run  # noqa: E402
from shorter import add_share, shorter  # noqa: E402

SHOWN = ("plain", "shared", "finetune", "joint", "joint_heads")


def mixture(d: int, tasks: int, isotropic: bool) -> TaskMixture:
    rng = np.random.default_rng(5)
    means = 1.5 * rng.standard_normal(tasks)
    block = dict(d=d, weights=[1 / tasks] * tasks, means=means.tolist(), noise_var=1)
    block["covs"] = [1 + k / tasks for k in range(tasks)]
    if not isotropic:
        means = rng.standard_normal((tasks, d)) * 3 / d**0.5
        block |= dict(means=means.tolist(), cov_base=(1.03 ** np.arange(d)).tolist())
    return make_spec("far", block)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--n", type=int, nargs="+", default=[1, 100, 10_000])
    parser.add_argument("--tasks", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--seeds", type=int, default=8)
    add_share(parser)
    args = parser.parse_args()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    recipe = load(config, **of_clone(ROOT)).protocols["laptop"].recipes["one_layer"]
    print("| d | K | isotropic | n |", " | ".join(SHOWN), "|")
    print("|---" * (4 + len(SHOWN)) + "|")
    for d, tasks, isotropic, n in itertools.product(args.dims, args.tasks, (True, False), args.n):
        mix = mixture(d, tasks, isotropic)
        curves = [Curve(mix.name, "attention", "attention", 1, a, ARMS[a].trains) for a in SHOWN]
        runs = [Run(curve, shorter(recipe.of(curve.arm), args.share)) for curve in curves]
        rows = train(GaussianContexts(mix, n), runs, range(args.seeds)).rows
        best, cells = optima(mix, n), []
        for arm in SHOWN:
            least = min(row["risk"] for row in rows if row["arm"] == arm)
            cells.append(f"{100 * (least / best[arm] - 1):+z.2f}%".replace("-", "−"))
        print(f"| {d} | {tasks} | {'yes' if isotropic else 'no'} | {n} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
