"""What training jobs ask a cluster for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import configs
import pandas as pd
import pytest
from decoupling import models
from decoupling.config.protocols import Protocol
from decoupling.config.settings import Setting
from decoupling.models.base import Model
from decoupling.plan import duration, jobs

ROOT = Path(__file__).parents[2]
KEPT = sorted((ROOT / "data/archive").glob("*_costs.csv"))
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
        assert duration.minutes(protocol, setting, row.n, attempt=1) > row.core_minutes, row
        assert jobs.mem_mb(protocol, setting) > row.max_rss_mb, row


# Milliseconds of a step of one arm on one thread of a shared machine, by model, layers, gradient,
# seeds, d, K and n: the least of several.
STEPS = {
    ("attention", 1, "exact", 50, 10, 2, 50): 0.12,
    ("attention", 1, "exact", 50, 10, 20, 50): 0.52,
    ("attention", 1, "exact", 50, 50, 2, 50): 2.9,
    ("attention", 1, "exact", 50, 50, 20, 50): 7.3,
    ("attention", 1, "exact", 50, 100, 2, 50): 17.3,
    ("attention", 1, "exact", 50, 100, 20, 50): 29.1,
    ("attention", 1, "exact", 50, 200, 2, 50): 102,
    ("attention", 1, 8192, 50, 50, 2, 50): 777,
    ("attention", 1, 8192, 50, 100, 2, 50): 633,
    ("attention", 1, 8192, 50, 200, 2, 50): 1880,
    ("attention", 3, 512, 4, 10, 2, 50): 0.77,
    ("attention", 3, 512, 4, 50, 2, 50): 13.6,
    ("attention", 3, 512, 4, 100, 2, 50): 64,
    ("attention", 4, 1024, 8, 10, 2, 20): 4.6,
    ("attention", 6, 1024, 8, 10, 2, 20): 50,
    ("softmax", 1, 512, 4, 10, 2, 50): 0.94,
    ("softmax", 1, 512, 4, 50, 2, 50): 5.05,
    ("softmax", 1, 512, 4, 100, 2, 50): 13.0,
    ("softmax", 1, 512, 4, 10, 2, 500): 7.2,
    ("softmax", 1, 512, 4, 50, 2, 500): 68,
    ("transformer", 2, 128, 2, 10, 2, 10): 9.4,
    ("transformer", 2, 128, 2, 50, 2, 10): 9.8,
    ("transformer", 2, 128, 2, 10, 2, 50): 34.3,
    ("transformer", 2, 128, 2, 10, 2, 200): 289,
}


IMPORTANCE = {  # the same, of three layers with importance sampling, the draw among it
    ("attention", 3, 512, 4, 10, 2, 50): 1.4,
    ("attention", 3, 512, 4, 50, 2, 50): 36.7,
    ("attention", 3, 512, 4, 100, 2, 50): 114,
}


def hours_of(step, milliseconds: float, **keys: bool) -> float:
    """What a job asks for, besides the half hour that every job does, for an hour of steps."""
    model, layers, gradient, seeds, d, tasks, n = step
    block = dict(d=d, weights=[1 / tasks] * tasks, means=[0] * tasks, covs=[1] * tasks, n=[n])
    setting = Setting.read(
        "large", block | dict(models=[model], layers=[layers], arms=["joint_heads"])
    )
    recipe = dict(batch_size=gradient, iterations=round(3.6e6 / milliseconds), lr=0.01) | keys
    recipes = {setting.curves[0].model_class.recipe: recipe}
    protocol = Protocol.read("hour", dict(seeds=seeds, seeds_per_job=seeds) | recipes)
    return (duration.minutes(protocol, setting, n, attempt=1) - 30) / 60


@pytest.mark.parametrize("step", STEPS, ids=lambda step: "-".join(map(str, step)))
def test_jobs_of_any_size_ask_for_what_their_steps_take(step):
    """Not more than 20 times as much: the pace of models that see more than moments has all their
    arms in it, this is one."""
    assert 1.1 < hours_of(step, STEPS[step]) < 20


@pytest.mark.parametrize("step", IMPORTANCE, ids=lambda step: f"d{step[4]}")
def test_jobs_ask_for_what_importance_sampling_takes(step):
    assert 1.1 < hours_of(step, IMPORTANCE[step], importance_sampling=True) < 20


def test_exact_training_of_one_layer_is_small_at_any_size(config):
    """d = 200 with 20 tasks takes 460 MB; on batches 2.9 GB."""
    block = dict(d=200, weights=[0.05] * 20, means=[0] * 20, covs=[1] * 20, n=[400])
    setting = Setting.read("large", block)
    assert 500 < jobs.mem_mb(config.protocols["laptop"], setting) < 2000
    assert 3000 < jobs.mem_mb(config.protocols["paper"], setting) < 7000
    assert jobs.theory_mb(setting) < 1000


# Seconds of a core and MB of an n: table, d, K and n.
TABLES = {
    ("theory", 50, 2, 50): (0.29, 82),
    ("theory", 100, 2, 100): (0.64, 107),
    ("theory", 100, 20, 100): (2.30, 139),
    ("theory", 200, 2, 200): (3.33, 286),
    ("bayes", 50, 2, 50): (6.42, 361),
    ("bayes", 50, 2, 500): (6.81, 361),
    ("bayes", 100, 2, 100): (28.0, 1218),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: "-".join(map(str, table)))
def test_computed_tables_ask_for_what_they_take(table):
    name, d, tasks, n = table
    seconds, megabytes = TABLES[table]
    block = dict(d=d, weights=[1 / tasks] * tasks, means=[0] * tasks, covs=[1] * tasks, n=[n])
    asked_mb, minutes = (ask(Setting.read("large", block)) for ask in jobs.COMPUTED[name])
    assert megabytes < asked_mb < megabytes + 1000
    assert (10 * 60 + 60 * minutes) > 2 * seconds  # rules add ten minutes
    assert 60 * minutes < 10 * seconds


def test_only_what_takes_seconds_stays_on_a_login_node(config):
    assert not any(jobs.computed(config, table, large=True) for table in jobs.COMPUTED)
    block = dict(d=100, weights=[0.5] * 2, means=[0] * 2, covs=[1] * 2, n=[50, 100])
    setting = Setting.read("large", block)
    assert not jobs.is_large("theory", setting)
    assert jobs.is_large("bayes", setting)


def test_further_attempts_ask_for_more_time_up_to_a_day(config):
    protocol, setting = config.protocols["laptop"], config.settings["figA2c"]
    first, second = (duration.minutes(protocol, setting, 20, attempt) for attempt in (1, 2))
    assert second == pytest.approx(2 * first, abs=1)
    assert duration.minutes(protocol, setting, 20, attempt=1000) == DAY


def test_blocks_of_fewer_seeds_ask_for_less_time(config):
    """Of deeper models; of one layer they share the work."""
    whole = config.protocols["paper"]
    few = replace(whole, seeds_per_job=5)
    for name, same in {"figA2c": False, "fig2c": True}.items():
        setting = config.settings[name]
        long, short = (duration.minutes(protocol, setting, 20, 1) - 30 for protocol in (whole, few))
        assert short == pytest.approx(long if same else long / 10, abs=1), name


def test_a_recipe_can_have_jobs_of_fewer_seeds():
    """Of several recipes a job has a multiple of each, and at most all seeds."""
    sizes = {"deep": 4, "transformer": 6, "softmax": None}
    recipe = dict(batch_size=64, iterations=10, lr=0.01)
    blocks = {n: recipe | ({"seeds_per_job": s} if s else {}) for n, s in sizes.items()}
    common = dict(d=2, weights=[1], means=[0], covs=[1], n=[4], arms=["plain"])

    def blocks_of(seeds: int, **keys) -> list[tuple[int, int]]:
        protocol = Protocol.read("p", dict(seeds=seeds, seeds_per_job=9) | blocks)
        return jobs.seed_blocks(protocol, Setting.read("x", common | keys))

    assert blocks_of(10, models=["transformer"]) == [(0, 5), (6, 9)]
    assert blocks_of(10, models=["softmax"]) == [(0, 8), (9, 9)]
    both = dict(models=["attention", "transformer"], layers=[2])
    assert blocks_of(30, **both) == [(0, 11), (12, 23), (24, 29)]
    assert blocks_of(10, **both) == [(0, 9)]


def test_depths_in_one_job_ask_for_the_time_of_all(config):
    protocol, setting = config.protocols["paper"], config.settings["figA2c"]
    alone = duration.minutes(protocol, setting, 20, 1) - 30
    both = duration.minutes(protocol, replace(setting, layers=(2, 3)), 20, 1) - 30
    assert both == pytest.approx(2 * alone, abs=1)


@pytest.mark.parametrize("name", ["softmax", "transformer", "laptop"])
def test_long_jobs_start_first(config, name: str):
    """Of kept ones that take minutes, none of half the time comes before a longer one."""
    costs = pd.read_csv(ROOT / f"data/archive/{name}_costs.csv")
    costs = costs[costs.core_minutes > 2].sort_values("core_minutes")
    rows = [
        (duration.priority(config.protocols["laptop"], config.settings[row.setting], row.n), row)
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
        duration.priority(protocol, replace(setting, arms=arms), 10)
        for arms in (("finetune",), ("plain", "finetune"), ("plain",))
    )
    assert tuned == both > plain


def test_a_model_that_does_not_say_how_fast_it_is_asks_for_as_much_as_any():
    rates = [model.contexts_per_minute for model in models.modules().values()]
    assert Model.contexts_per_minute == min(rates) < max(rates)
