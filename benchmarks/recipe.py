"""What each ingredient of a recipe buys, as a Markdown table.

    python benchmarks/recipe.py [--recipe joint_heads] [--n 50] [--seeds 50]

`joint_heads` and `joint`: trains the arm from random initialisations on the exact gradient, in the
setting where it is hardest, against the numerical optimum. `deep`: three layers, `joint`, by
protocol laptop with one thing changed at a time, n = 10 and all seeds unless others are given.
`softmax`: softmax attention, `joint_heads`, likewise, n = 50 and 1, 4 seeds, without halving.
`softmax_heads` and `softmax_shared`: with eight attention heads, `joint` and `shared`, n = 50, 8
seeds. `softmax_finetune`: fine-tuned prompts at n = 1, where the weights are as they started.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling.models.arms import ARMS  # noqa: E402
from decoupling.models.curve import Curve  # noqa: E402
from decoupling.plan.jobs import setting_runs  # noqa: E402
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.theory.optimum import optima  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from decoupling.train.recipe import Recipe, Run  # noqa: E402
from shorter import add_share, shorter  # noqa: E402

PAPER = {"the paper's Adam: rate 0.001, constant, 20,000 iterations": {}}
FAST = {"lr": 0.01, "schedule": "cosine"}
WARMUP = {"means_warmup": 0.5}
PROMPTS = {"prompt_lr_factor": 10.0}
STANDARD = {"standard_units": True}
VARIANTS = {
    "joint_heads": PAPER
    | {
        "rate 0.01 with cosine schedule": FAST,
        "rate 0.01, cosine, means grown from 0": FAST | WARMUP,
        "rate 0.01, cosine, prompts at 10 times the rate": FAST | PROMPTS,
        "all three": FAST | WARMUP | PROMPTS,
        "all, but rate 0.001": FAST | WARMUP | PROMPTS | {"lr": 0.001},
        "all, but constant rate": FAST | WARMUP | PROMPTS | {"schedule": "constant"},
        "all three, in standard units (`laptop`)": FAST | WARMUP | PROMPTS | STANDARD,
    },
    "joint": PAPER
    | {
        "initial scale 0.02 instead of 0.1": {"init_std": 0.02},
        "initial scale 0.3": {"init_std": 0.3},
        "40,000 iterations": {"iterations": 40_000},
        "prompts at 10 times the rate": PROMPTS,
        "rate 0.01, cosine, means grown from 0, prompts at 10 times the rate, in standard units"
        " (`laptop`)": FAST | WARMUP | PROMPTS | STANDARD,
    },
}
SETTING = {"joint_heads": "fig2c", "joint": "fig2a"}


DEEP = {  # what is changed in laptop's recipe
    "as it is": {},
    "half the rate": {"lr": 0.5},
    "twice the rate": {"lr": 2.0},
    "constant rate": {"schedule": "constant"},
    "initial scale 0.05 instead of 0.001": {"init_std": 0.05},
    "gradients not clipped": {"clip_ratio": None},
    "gradients clipped to 30 times the running risk instead of 300": {"clip_ratio": 30.0},
    "Adam's usual 0.999 instead of `beta2_decay`": {"options": ()},
    "without importance sampling": {"importance_sampling": False},
    "batches of one size, as many contexts": {"batch_growth": 1.0},
    "means not grown from 0": {"means_warmup": 0.0},
    "prompts at 3 times the rate of the rest instead of 10": {"prompt_lr_factor": 3.0},
    "prompts at the rate of the rest": {"prompt_lr_factor": 1.0},
}


def deep(config: dict, n: int, seeds: int, share: float) -> None:
    read = load(config, **of_clone(ROOT))
    (curve,) = (c for c in read.settings["figA2c"].curves if c.arm == "joint")
    mix = make_spec("figA2c", read.settings["figA2c"].block)
    laptop = read.protocols["laptop"].run(curve)
    print("| recipe | best seed | median of those that finish | diverged |\n|---|---|---|---|")
    for name, changes in DEEP.items():
        recipe = replace(laptop.recipe, halving_group=seeds, **changes)
        if "lr" in changes:
            recipe = replace(recipe, lr=changes["lr"] * laptop.recipe.lr)
        if "batch_growth" in changes:
            total = sum(laptop.recipe.batch_at(i) for i in range(recipe.iterations))
            recipe = replace(recipe, batch_size=round(total / recipe.iterations))
        run = replace(laptop, recipe=shorter(recipe, share))
        rows = train(GaussianContexts(mix, n), [run], range(seeds)).rows
        done = [row for row in rows if row["status"] == "ok"]
        lost = sum(row["status"] == "diverged" for row in rows)
        texts = ["none", ""]
        if done:
            best = min(done, key=lambda row: row["selection_risk"])
            risk, error = (best[key] / mix.label_power for key in ("risk", "risk_se"))
            median = np.median([row["risk"] for row in done]) / mix.label_power
            texts = [f"{risk:.4f} ± {error:.4f}", f"{median:.4f}"]
        print(f"| {name} | {' | '.join(texts)} | {lost} of {seeds} |", flush=True)


SHORT, LONG = {"iterations": 8000}, {"iterations": 64_000}
SOFTMAX = {  # the same, by n
    50: {  # all but the first are short
        "as it is": {},
        "8,000 iterations instead of 32,000": SHORT,
        "8,000, twice the rate": SHORT | {"lr": 0.02},
        "8,000, half the rate": SHORT | {"lr": 0.005},
        "8,000, initial scale 0.3 instead of 0.1": SHORT | {"init_std": 0.3},
        "8,000, batches of 1,024 instead of 512 to 4,096": SHORT
        | {"batch_size": 1024, "batch_growth": 1.0},
        "8,000, means not grown from 0": SHORT | {"means_warmup": 0.0},
        "8,000, means grown over a quarter of training instead of half": SHORT
        | {"means_warmup": 0.25},
        "8,000, prompts at the rate of the rest": SHORT | {"prompt_lr_factor": 1.0},
        "8,000, prompts' rate not grown with the means": SHORT | {"prompts_with_means": False},
    },
    1: {
        "as it is": {},
        "64,000 iterations": LONG,
        "64,000, batches of 256 to 4,096": LONG | {"batch_size": 256, "batch_growth": 16.0},
        "64,000, prompts' rate not grown with the means": LONG | {"prompts_with_means": False},
    },
}
SOFTMAX_HEADS = {
    50: {
        "as it is": {},
        "initial scale 0.1 instead of 0.03": {"init_std": 0.1},
        "initial scale 0.01": {"init_std": 0.01},
        "initial scale 0.1, twice the rate": {"init_std": 0.1, "lr": 0.02},
        "initial scale 0.1, four times the rate": {"init_std": 0.1, "lr": 0.04},
        "initial scale 0.1, means grown over a quarter of training instead of half": {
            "init_std": 0.1,
            "means_warmup": 0.25,
        },
    }
}
SMALL = {"init_std": 0.1}
SOFTMAX_SHARED = {
    50: {
        "as it is": {},
        "16,000 iterations instead of 8,000": {"iterations": 16_000},
        "initial scale 0.1 instead of 0.3": SMALL,
        "initial scale 0.1, 16,000 iterations": SMALL | {"iterations": 16_000},
        "initial scale 0.1, three times the rate": SMALL | {"lr": 0.03},
    }
}
SOFTMAX_FINETUNE = {
    1: {
        "as it is": {},
        "initial scale 0.1 instead of 0.3": SMALL,
        "initial scale 0.03": {"init_std": 0.03},
        "initial scale 0.01": {"init_std": 0.01},
    }
}
SEQUENCES = {  # setting, arm, what is tried, seeds
    "softmax": ("softmax_clean", "joint_heads", SOFTMAX, 4),
    "softmax_heads": ("softmax_heads.8", "joint", SOFTMAX_HEADS, 8),
    "softmax_shared": ("softmax_heads.8", "shared", SOFTMAX_SHARED, 8),
    "softmax_finetune": ("softmax_clean", "finetune", SOFTMAX_FINETUNE, 8),
}
CLOSE = 0.02  # of the best seed's risk


def softmax(
    config: dict,
    name: str,
    arm: str,
    variants: dict[int, dict],
    lengths: list[int],
    seeds: int,
    share: float,
) -> None:
    read = load(config, **of_clone(ROOT))
    setting = replace(read.settings[name], arms=(arm,))
    mix = make_spec(setting.name, setting.block)
    laptop = setting_runs(read.protocols["laptop"], setting)
    print("| n | recipe | best seed | median seed | seeds within 2% of it |\n|---|---|---|---|---|")
    tried = [(length, *item) for length in lengths for item in variants[length].items()]
    for n, variant, changes in tried:
        recipes = [shorter(replace(run.recipe, halve_at=(), **changes), share) for run in laptop]
        runs = [replace(run, recipe=made) for run, made in zip(laptop, recipes, strict=True)]
        rows = train(GaussianContexts(mix, n), runs, range(seeds)).rows
        done = [row for row in rows if row["arm"] == arm and row["status"] == "ok"]
        best = min(done, key=lambda row: row["selection_risk"])
        found = np.array([row["risk"] for row in done]) / mix.label_power
        risk, error = (best[key] / mix.label_power for key in ("risk", "risk_se"))
        close = (found < (1 + CLOSE) * risk).sum()
        texts = f"{risk:.4f} ± {error:.4f} | {np.median(found):.4f} | {close} of {seeds}"
        print(f"| {n} | {variant} | {texts} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recipes = [*VARIANTS, "deep", *SEQUENCES]
    parser.add_argument("--recipe", choices=recipes, default="joint_heads")
    parser.add_argument("--n", type=int, help="for softmax 50 or 1, for its others the one")
    parser.add_argument("--seeds", type=int)
    add_share(parser)
    args = parser.parse_args()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    if args.recipe == "deep":
        deep(config, args.n or 10, args.seeds or 50, args.share)
    elif args.recipe in SEQUENCES:
        name, arm, variants, seeds = SEQUENCES[args.recipe]
        if args.n not in (None, *variants):
            known = " or ".join(map(str, variants))
            parser.error(f"nothing is listed for {args.recipe} at n = {args.n}; use {known}")
        lengths = [args.n] if args.n else list(variants)
        softmax(config, name, arm, variants, lengths, args.seeds or seeds, args.share)
    else:
        one_layer(config, args.recipe, args.n or 50, args.seeds or 50, args.share)


def one_layer(config: dict, arm: str, n: int, seeds: int, share: float) -> None:
    setting = SETTING[arm]
    mix = make_spec(setting, load(config, **of_clone(ROOT)).settings[setting].block)
    optimum = optima(mix, n)[arm]
    curve = Curve(setting, "attention", "attention", 1, arm, ARMS[arm].trains)
    print("| recipe | best seed | median seed | seeds within 1% |\n|---|---|---|---|")
    for name, fields in VARIANTS[arm].items():
        run = Run(curve, shorter(Recipe(**fields), share))
        rows = train(GaussianContexts(mix, n), [run], range(seeds)).rows
        gap = np.array([row["risk"] for row in rows]) / optimum - 1
        percent = 100 * np.array([np.nanmin(gap), np.nanmedian(gap)])
        best, median = percent.round(2) + 0.0  # no −0.00
        close = (gap < 0.01).sum()
        print(f"| {name} | {best:+.2f}% | {median:+.2f}% | {close} of {seeds} |", flush=True)


if __name__ == "__main__":
    main()
