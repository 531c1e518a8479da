"""What more training would change of kept risks, point by point.

    python benchmarks/more_training.py doubling laptop > data/archive/deep_doubling.csv
    python benchmarks/more_training.py regret laptop > data/archive/deep_regret.csv
    python benchmarks/more_training.py doubling softmax > data/archive/softmax_doubling.csv
    python benchmarks/more_training.py doubling transformer > …/transformer_doubling.csv

`doubling`: the best seed when all iterations are doubled. `regret`: the best of all seeds trained
to the end, without halving. Both by protocol laptop, beside the risks of this name in data/archive.
Points can be named, setting/n or setting/n/arm, and are printed as they are finished.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".kernels"))
sys.path.insert(0, str(ROOT / "scripts"))

import pandas as pd  # noqa: E402
import yaml  # noqa: E402
from decoupling.config import Config  # noqa: E402
from decoupling.plan import jobs  # noqa: E402
from decoupling.plan.read import load, of_clone  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.loop import train  # noqa: E402
from decoupling.train.recipe import Recipe, Run  # noqa: E402
from shorter import add_share, shorter  # noqa: E402

POINTS = {
    ("doubling", "laptop"): [
        *("figA2b/1/joint", "figA2b/10/plain", "figA2b/20/joint_heads"),
        *("figA2e/3/plain", "figA2e/10/joint", "figA2e/20/joint_heads"),
        *("figA2c/1/plain", "figA2c/5/joint_heads", "figA2c/10/joint"),
        *("figA2c/20/joint", "figA2c/20/joint_heads"),
        *("figA2f/3/joint", "figA2f/10/joint_heads", "figA2f/20/plain"),
    ],
    ("regret", "laptop"): [
        *("figA2b/10/joint", "figA2e/5/plain", "figA2b/20/joint_heads"),
        *("figA2c/10/joint", "figA2f/5/plain", "figA2c/3/joint_heads"),
    ],
    ("doubling", "softmax"): [
        *("softmax_clean/10", "softmax_clean/1", "softmax_clean/50"),
        *("softmax_noisy/1/finetune", "softmax_noisy/10"),
        *("softmax_heads.8/10", "softmax_heads.8/50", "softmax_heads.4/50/joint_heads"),
    ],
    ("doubling", "transformer"): ["transformer/10"],
}
CHANGES: dict[str, Callable[[Recipe], Recipe]] = {
    "doubling": lambda recipe: replace(recipe, iterations=2 * recipe.iterations),
    "regret": lambda recipe: replace(recipe, halve_at=()),
}
KEYS = ["setting", "n", "model", "layers", "arm"]


def runs(config: Config, setting: str, arm: str) -> list[Run]:
    """What laptop trains of an arm, or of all where none is named."""
    chosen = config.settings[setting]
    if arm:
        chosen = replace(chosen, arms=(arm,))
    return jobs.setting_runs(config.protocols["laptop"], chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=CHANGES)
    parser.add_argument("kept", help="the name of the kept risks")
    parser.add_argument("points", nargs="*", help="setting/n or setting/n/arm")
    add_share(parser)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    config = load(yaml.safe_load((ROOT / "config/config.yaml").read_text()), **of_clone(ROOT))
    kept = pd.read_parquet(ROOT / f"data/archive/{args.kept}.parquet").set_index(KEYS)
    points = args.points or POINTS.get((args.what, args.kept))
    if not points:
        parser.error(f"no points of {args.kept} are listed for {args.what}; name some")
    print("setting,n,layers,arm,risk,risk_se,changed,changed_se")
    for point in points:
        name, n, arm = [*point.split("/"), ""][:3]
        contexts = GaussianContexts.read(jobs.spec_text(config.settings[name]), int(n))
        changed = [
            replace(run, recipe=CHANGES[args.what](shorter(run.recipe, args.share)))
            for run in runs(config, name, arm)
        ]
        rows = pd.DataFrame(train(contexts, changed, range(max(r.seeds for r in changed))).rows)
        rows = rows[rows.status == "ok"].sort_values("selection_risk")
        for row in rows.drop_duplicates(KEYS).sort_index().itertuples():
            before = kept.loc[tuple(getattr(row, key) for key in KEYS)]
            after = row.risk / contexts.spec.label_power, row.risk_se / contexts.spec.label_power
            values = ",".join(f"{x:.8g}" for x in (before.normalized, before.normalized_se, *after))
            print(f"{row.setting},{row.n},{row.layers},{row.arm},{values}", flush=True)


if __name__ == "__main__":
    main()
