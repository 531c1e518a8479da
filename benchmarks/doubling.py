"""What twice the iterations change, for all arms of a setting at one n.

    python benchmarks/doubling.py softmax softmax_clean/10 … > data/reference/softmax_doubling.csv
    python benchmarks/doubling.py transformer transformer/10 >> …

By protocol laptop, beside the risks that are kept in data/reference under the first name.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".kernels"))
sys.path.insert(0, str(ROOT / "scripts"))

import pandas as pd  # noqa: E402
import yaml  # noqa: E402
from decoupling.plan import jobs  # noqa: E402
from decoupling.plan.config import read_config  # noqa: E402
from decoupling.sources.gaussian.contexts import GaussianContexts  # noqa: E402
from decoupling.train.recipe import Run  # noqa: E402
from decoupling.train.training import train  # noqa: E402

KEYS = ["setting", "n", "model", "layers", "arm"]


def doubled(run: Run) -> Run:
    return replace(run, recipe=replace(run.recipe, iterations=2 * run.recipe.iterations))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kept", help="the name of the kept results")
    parser.add_argument("points", nargs="+", help="setting/n")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    config = read_config(yaml.safe_load((ROOT / "config/config.yaml").read_text()))
    kept = pd.read_parquet(ROOT / f"data/reference/{args.kept}.parquet").set_index(KEYS)
    print("setting,n,layers,arm,risk,risk_se,changed,changed_se")
    for point in args.points:
        name, n = point.split("/")
        setting = config.settings[name]
        contexts = GaussianContexts.read(jobs.specs.spec_text(setting), int(n))
        runs = [
            doubled(run) for run in jobs.training.setting_runs(config.protocols["laptop"], setting)
        ]
        seeds = range(max(run.seeds for run in runs))
        rows = pd.DataFrame(train(contexts, runs, seeds).rows)
        rows = rows[rows.status == "ok"].sort_values("selection_risk")
        for row in rows.drop_duplicates(KEYS).sort_index().itertuples():
            key = row.setting, row.n, row.model, row.layers, row.arm
            before = kept.loc[key, ["normalized", "normalized_se"]]
            power = contexts.spec.label_power
            numbers = (*before, row.risk / power, row.risk_se / power)
            values = ",".join(f"{number:.8g}" for number in numbers)
            print(f"{row.setting},{row.n},{row.layers},{row.arm},{values}", flush=True)


if __name__ == "__main__":
    main()
