"""How far the noise of batches moves what fine-tuned prompts can reach, as CSV.

    python benchmarks/batch_noise.py [--n 1 10 50] > data/reference/batch_noise.csv

Trains fig2c's `plain` on batches as the paper does. All through the second half of training it
takes the exact risk of the weights as they are, and of the best prompts on top of them; of 50
seeds the least. A row per n: mean and standard deviation of both over training.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
import torch
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling import config as cfg  # noqa: E402
from decoupling.expand import mixture_from_config  # noqa: E402
from decoupling.moments import batch_moments, centred, population_moments  # noqa: E402
from decoupling.recipes import Recipe, Task  # noqa: E402
from decoupling.risk import risk  # noqa: E402
from decoupling.sampling import GramSampler  # noqa: E402
from decoupling.spec import TaskMixture  # noqa: E402
from decoupling.tracks import Track  # noqa: E402

RECIPE = Recipe(gradient=8192)
SEEDS = 50
EVERY = 100  # iterations between two looks


def trajectory(mix: TaskMixture, n: int) -> pd.DataFrame:
    """Least risks over seeds, a row per look; the best prompts centre the moments."""
    track = Track(Task("attention", 1, "plain", RECIPE), mix, range(SEEDS), {}, "cpu")
    sampler = GramSampler(mix, n, "batch noise")
    exact = population_moments(mix, n)
    moments = {"plain": exact, "finetune": centred(exact, mix)}
    looks = []
    for iteration in range(RECIPE.iterations):
        track.step(iteration, batch_moments(sampler.batch(iteration, RECIPE.gradient), mix))
        if iteration >= RECIPE.iterations // 2 and iteration % EVERY == 0:
            model = track.model.one_layer(track.params)
            looks.append({arm: risk(data, model).min() for arm, data in moments.items()})
    return pd.DataFrame(looks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[1, 10, 50])
    args = parser.parse_args()
    torch.set_num_threads(1)
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    mix = mixture_from_config("fig2c", cfg.mixture_block(config, "fig2c"))
    print("n,plain_mean,plain_std,finetune_mean,finetune_std")
    for n in args.n:
        looks = trajectory(mix, n)
        columns = (looks[arm].agg(what) for arm in looks for what in ("mean", "std"))
        print(n, *(f"{value:.6g}" for value in columns), sep=",", flush=True)


if __name__ == "__main__":
    main()
