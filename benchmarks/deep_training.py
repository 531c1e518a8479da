"""How far deeper training can be trusted, point by point.

    python benchmarks/deep_training.py doubling > data/reference/deep_doubling.csv
    python benchmarks/deep_training.py regret > data/reference/deep_regret.csv

`doubling`: the best seed's risk when all iterations are doubled. `regret`: the best of all seeds
trained to the end instead of a race. Both beside the kept risk, by protocol laptop; points can be
named (`figA2b/10/joint …`), and are printed as they are finished.
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

from decoupling.plan.config import Config, read_config  # noqa: E402
from decoupling.sources.gaussian.block import make_spec  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.recipe import Run  # noqa: E402
from decoupling.train.training import train  # noqa: E402

POINTS = {
    "doubling": [
        *("figA2b/1/joint", "figA2b/10/plain", "figA2b/20/joint_heads"),
        *("figA2e/3/plain", "figA2e/10/joint", "figA2e/20/joint_heads"),
        *("figA2c/1/plain", "figA2c/5/joint_heads", "figA2c/10/joint"),
        *("figA2f/3/joint", "figA2f/10/joint_heads", "figA2f/20/plain"),
    ],
    "regret": [
        *("figA2b/10/joint", "figA2e/5/plain", "figA2b/20/joint_heads"),
        *("figA2c/10/joint", "figA2f/5/plain", "figA2c/3/joint_heads"),
    ],
}
CHANGES = {
    "doubling": lambda recipe: replace(recipe, iterations=2 * recipe.iterations),
    "regret": lambda recipe: replace(recipe, race=()),
}


def best(config: Config, setting: str, n: int, run: Run) -> tuple[float, float]:
    """Normalised risk of the best seed and its standard error."""
    chosen = config.settings[setting]
    mix = make_spec(setting, chosen.block)
    rows = train(GaussianContexts(mix, n), [run], range(run.seeds)).rows
    found = min((row for row in rows if row["status"] == "ok"), key=lambda r: r["selection_risk"])
    return found["risk"] / mix.label_power, found["risk_se"] / mix.label_power


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=POINTS)
    parser.add_argument("points", nargs="*")
    args = parser.parse_args()
    config = read_config(yaml.safe_load((ROOT / "config/config.yaml").read_text()))
    kept = pd.read_parquet(ROOT / "data/reference/laptop.parquet").set_index(
        ["setting", "n", "arm", "layers"]
    )
    print("setting,n,layers,arm,risk,risk_se,changed,changed_se")
    for point in args.points or POINTS[args.what]:
        setting, n, arm = point.split("/")
        (curve,) = (c for c in config.settings[setting].curves if c.arm == arm)
        run = config.protocol.run(curve)
        changed = replace(run, recipe=CHANGES[args.what](run.recipe))
        before = kept.loc[(setting, int(n), arm, curve.layers), ["normalized", "normalized_se"]]
        numbers = (*before, *best(config, setting, int(n), changed))
        values = ",".join(f"{number:.8g}" for number in numbers)
        print(f"{setting},{n},{curve.layers},{arm},{values}", flush=True)


if __name__ == "__main__":
    main()
