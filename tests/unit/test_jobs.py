"""What training jobs ask a cluster for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import configs
import pandas as pd
import pytest
from decoupling import models
from decoupling.config.settings import Setting
from decoupling.models import Model
from decoupling.plan import jobs

ROOT = Path(__file__).parents[2]
KEPT = sorted((ROOT / "data/reference").glob("*_costs.csv"))
DAY = 24 * 60


@pytest.fixture(scope="module")
def config():
    return configs.read()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_jobs_ask_for_what_kept_ones_took(config, path: Path):
    """One job per n, with all seeds."""
    protocol = config.protocols["paper" if path.stem.startswith("paper") else "laptop"]
    for row in pd.read_csv(path).itertuples():
        setting = config.settings[row.setting]
        assert jobs.minutes(protocol, setting, attempt=1) > row.core_minutes, row
        assert jobs.mem_mb(protocol, setting) > row.max_rss_mb, row


def test_exact_training_of_one_layer_is_small_at_any_size(config):
    """d = 200 with 20 tasks takes 460 MB; on batches, fourth moments take more than there is."""
    block = dict(d=200, weights=[0.05] * 20, means=[0] * 20, covs=[1] * 20, n=[400])
    setting = Setting.read("large", block)
    assert 500 < jobs.mem_mb(config.protocols["laptop"], setting) < 2000
    assert jobs.mem_mb(config.protocols["paper"], setting) > 500_000
    assert jobs.theory_mb(setting) < 1000


def test_further_attempts_ask_for_more_time_up_to_a_day(config):
    protocol, setting = config.protocols["laptop"], config.settings["figA2c"]
    first, second = (jobs.minutes(protocol, setting, attempt) for attempt in (1, 2))
    assert second == pytest.approx(2 * first, abs=1)
    assert jobs.minutes(protocol, setting, attempt=1000) == DAY


def test_blocks_of_fewer_seeds_ask_for_less_time(config):
    """Of deeper models; of one layer they share the work."""
    whole = config.protocols["paper"]
    few = replace(whole, seeds_per_job=5)
    for name, same in {"figA2c": False, "fig2c": True}.items():
        setting = config.settings[name]
        long, short = (jobs.minutes(protocol, setting, 1) - 30 for protocol in (whole, few))
        assert short == pytest.approx(long if same else long / 10, abs=1), name


def test_depths_in_one_job_ask_for_the_time_of_all(config):
    protocol, setting = config.protocols["paper"], config.settings["figA2c"]
    alone = jobs.minutes(protocol, setting, 1) - 30
    both = jobs.minutes(protocol, replace(setting, layers=(2, 3)), 1) - 30
    assert both == pytest.approx(2 * alone, abs=1)


@pytest.mark.parametrize("name", ["softmax", "transformer", "laptop"])
def test_long_jobs_start_first(config, name: str):
    """Of kept ones that take minutes, none of half the time comes before a longer one."""
    costs = pd.read_csv(ROOT / f"data/reference/{name}_costs.csv")
    costs = costs[costs.core_minutes > 2].sort_values("core_minutes")
    rows = [
        (jobs.priority(config.protocols["laptop"], config.settings[row.setting], row.n), row)
        for row in costs.itertuples()
    ]
    for priority, row in rows:
        assert priority > 0
        for other_priority, other in rows:
            if other.core_minutes > 2 * row.core_minutes:
                assert other_priority > priority, (row, other)


def test_the_plain_that_is_only_tuned_counts_as_work(config):
    protocol, setting = config.protocols["laptop"], config.settings["softmax_clean"]
    tuned, both, plain = (
        jobs.priority(protocol, replace(setting, arms=arms), 10)
        for arms in (("finetune",), ("plain", "finetune"), ("plain",))
    )
    assert tuned == both > plain


def test_a_model_that_does_not_say_how_fast_it_is_asks_for_as_much_as_any():
    rates = [model.contexts_per_minute for model in models.modules().values()]
    assert Model.contexts_per_minute == min(rates) < max(rates)
