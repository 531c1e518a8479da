"""What each ingredient of an arm's recipe buys, as a Markdown table.

    python benchmarks/recipe.py [--arm joint_heads] [--n 50] [--seeds 50]

Trains the arm from random initialisations on the exact gradient, in the setting where it is
hardest, and compares with the exact optimum.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling.models.arms import ARMS  # noqa: E402
from decoupling.plan.config import read_setting  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.theory.optimum import optima  # noqa: E402
from decoupling.train.recipe import Recipe, Run  # noqa: E402
from decoupling.train.training import train  # noqa: E402

PAPER = {"the paper's Adam: rate 0.001, constant, 20,000 iterations": {}}
FAST = {"lr": 0.01, "schedule": "cosine"}
WARMUP = {"means_warmup": 0.5}
PROMPTS = {"prompt_lr_factor": 10.0}
VARIANTS = {
    "joint_heads": PAPER
    | {
        "rate 0.01 with cosine schedule": FAST,
        "rate 0.01, cosine, means grown from 0": FAST | WARMUP,
        "rate 0.01, cosine, prompts at 10 times the rate": FAST | PROMPTS,
        "all three": FAST | WARMUP | PROMPTS,
        "all, but rate 0.001": FAST | WARMUP | PROMPTS | {"lr": 0.001},
        "all, but constant rate": FAST | WARMUP | PROMPTS | {"schedule": "constant"},
    },
    "joint": PAPER
    | {
        "initial scale 0.02 instead of 0.1": {"init_std": 0.02},
        "initial scale 0.3": {"init_std": 0.3},
        "40,000 iterations": {"iterations": 40_000},
        "prompts at 10 times the rate": PROMPTS,
    },
}
SETTING = {"joint_heads": "fig2c", "joint": "fig2a"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", choices=VARIANTS, default="joint_heads")
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=50)
    args = parser.parse_args()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    setting = SETTING[args.arm]
    mix = make_spec(setting, read_setting(setting, config["settings"][setting]).block)
    optimum = optima(mix, args.n)[args.arm]
    print("| recipe | best seed | median seed | seeds within 1% |\n|---|---|---|---|")
    for name, fields in VARIANTS[args.arm].items():
        run = Run("attention", "attention", 1, args.arm, ARMS[args.arm], Recipe(**fields))
        rows = train(GaussianContexts(mix, args.n), [run], range(args.seeds))
        gap = np.array([row["risk"] for row in rows]) / optimum - 1
        best, median = 100 * np.nanmin(gap), 100 * np.nanmedian(gap)
        close = (gap < 0.01).sum()
        print(f"| {name} | {best:+.2f}% | {median:+.2f}% | {close} of {args.seeds} |", flush=True)


if __name__ == "__main__":
    main()
