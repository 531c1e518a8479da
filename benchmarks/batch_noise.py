"""How far the noise of batches moves what fine-tuned prompts can reach, as CSV.

    python benchmarks/batch_noise.py [--n 1 10 50] > data/archive/batch_noise.csv

Trains fig2c's `plain` on batches as the paper does. All through the second half of training it
takes the exact risk of the weights as they are, and of the best prompts on top of them; of 50
seeds the least. A row per n: mean and standard deviation of both over training.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from decoupling import engines  # noqa: E402
from decoupling.config.settings import Setting  # noqa: E402
from decoupling.models.arms import ARMS  # noqa: E402
from decoupling.models.curve import Curve  # noqa: E402
from decoupling.problem.gaussian_moments import population_moments  # noqa: E402
from decoupling.problem.mixture import TaskMixture  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.recipe import Recipe, Run  # noqa: E402
from decoupling.train.state import TrainState  # noqa: E402
from shorter import add_share, shorter  # noqa: E402

STREAM = 100  # of this benchmark's own batches: not those that anything was trained on
RECIPE = Recipe(batch_size=8192)
SEEDS = 50
LOOKS = 100  # in the second half of training


def trajectory(mix: TaskMixture, n: int, recipe: Recipe) -> pd.DataFrame:
    """Least risks over seeds, a row per look; the best prompts centre the moments."""
    engine = engines.load("moments")(GaussianContexts(mix, n))
    run = Run(Curve(mix.name, "attention", "attention", 1, "plain", ARMS["plain"].trains), recipe)
    state = TrainState(run, engine, (mix.dim, mix.tasks), range(SEEDS))
    exact = population_moments(mix, n)
    moments = {"plain": exact, "finetune": exact.centred()}
    half, looks = recipe.iterations // 2, []
    every = max(1, half // LOOKS)
    for iteration in range(recipe.iterations):
        state.step(iteration, engine.data(STREAM, iteration, *recipe.data_at(iteration)))
        if iteration >= half and iteration % every == 0:
            model = state.model.forward(state.params)
            looks.append({arm: data.risk(model).min() for arm, data in moments.items()})
    return pd.DataFrame(looks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[1, 10, 50])
    add_share(parser)
    args = parser.parse_args()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    mix = make_spec("fig2c", Setting.read("fig2c", config["settings"]["fig2c"]).block)
    print("n,plain_mean,plain_std,finetune_mean,finetune_std")
    for n in args.n:
        looks = trajectory(mix, n, shorter(RECIPE, args.share))
        columns = (looks[arm].agg(what) for arm in looks for what in ("mean", "std"))
        print(n, *(f"{value:.6g}" for value in columns), sep=",", flush=True)


if __name__ == "__main__":
    main()
