"""Held-out risks of a table: literal predictions, baselines, folds together, and their errors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from decoupling.analysis.aggregate import label_power, read_parameters, seed_minimum
from decoupling.analysis.cross_validation import real_rows
from decoupling.analysis.held_out import held_out_rows, predict
from decoupling.analysis.redrawn import THEORY_DRAWS, cluster_weights, gate_warning, redrawn_rows
from decoupling.config.protocols import Protocol
from decoupling.config.settings import Setting
from decoupling.models.arms import ARMS
from decoupling.models.curve import Curve
from decoupling.plan.jobs import curves_text, setting_runs
from decoupling.problem.feature_moments import FeatureMoments
from decoupling.sources.table.baselines import baselines, choose_penalty
from decoupling.sources.table.contexts import TableContexts
from decoupling.sources.table.estimate import estimate, sums_of
from decoupling.sources.table.rows import Unit
from decoupling.sources.table.spec import Fold, make_spec, read_fold
from decoupling.theory.fold_table import fold_table
from decoupling.train.loop import train
from tables import BLOCK, make_rows, write

N = 2
ARM_NAMES = ["plain", "shared", "finetune", "joint", "joint_heads"]
RECIPE = {"batch_size": "exact", "iterations": 600, "lr": 0.03, "schedule": "cosine"}
PROTOCOL = Protocol.read("p", {"seeds": 2, "seeds_per_job": 2, "table": RECIPE})


def fold_settings(
    block: dict, models: tuple[str, ...] = ("attention", "reduced")
) -> dict[str, Setting]:
    own = {"n": [1, N], "models": models, "arms": ARM_NAMES}
    return Setting.read("x", block | own).folds


def members(setting: Setting) -> list[Curve]:
    return [Curve.from_dict(fields) for fields in json.loads(curves_text(setting.curves))]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A small table, trained and tested on all its folds at one n."""
    block = write(tmp_path_factory.mktemp("table") / "t.csv", make_rows(24, 10))
    block["fold_by"] = "school"
    found = {"specs": [], "held_out": [], "theory": [], "risks": [], "folds": [], "runs": []}
    found["parameters"], found["redrawn"] = [], []
    for name, setting in fold_settings(block).items():
        text = make_spec(name, setting.block, N)
        contexts = TableContexts.read(text, N, block["table"])
        runs = setting_runs(PROTOCOL, setting)
        done = train(contexts, runs, range(2))
        fold = read_fold(text, block["table"])
        parameters = read_parameters(pd.DataFrame(done.parameters), members(setting))[N]
        found["held_out"] += held_out_rows(fold, N, parameters)
        moments = FeatureMoments.from_dict(json.loads(text)["table"]["design"])
        power = label_power(text)
        found["theory"] += fold_table(fold.mix, moments, [N], power)
        found["redrawn"] += redrawn_rows(fold, [N])
        found["risks"] += seed_minimum(pd.DataFrame(done.rows), power)
        found["specs"].append(text)
        found["folds"].append(fold)
        found["runs"].append(done.rows)
        found["parameters"].append(parameters)
    tables = (pd.DataFrame(found[key]) for key in ("held_out", "theory", "redrawn", "risks"))
    found["real"] = pd.DataFrame(real_rows("x", *tables, found["specs"]))
    return found


def test_predictors_have_the_sizes_of_their_setting():
    """No model that tables train today has one, but a model of one's own may."""
    made = fold_settings(BLOCK | {"table": "t.csv", "attention_heads": 3}, ("softmax",))
    for setting in made.values():
        assert {member.sizes for member in members(setting)} == {(("attention_heads", 3),)}


def test_every_arm_is_trained_and_tested(trained: dict):
    real = trained["real"]
    attention = set(real[real.model == "attention"].arm)
    assert attention == set(ARM_NAMES)
    assert set(real[real.model == "reduced"].arm) == set(ARM_NAMES) - {"joint_heads"}
    baseline = {"ols", "ridge", "group_mean", "pooled", "blup"}
    assert set(real[real.model == "baseline"].arm) == baseline
    assert (real.units == 24).all()
    assert (real.clusters == 12).all()


def test_seeds_are_chosen_on_training_units(trained: dict):
    """What chooses is the risk on the training contexts, literally."""
    fold, rows = trained["folds"][0], pd.DataFrame(trained["runs"][0])
    contexts, best = fold.training_contexts(N), rows.groupby(["model", "arm"]).selection_risk.min()
    for member, params in trained["parameters"][0].items():
        made = member.build(fold.mix.dim, fold.mix.tasks)
        layer = made.forward({name: a[None] for name, a in params.items()})
        errors = predict(layer, contexts, contexts.grams) - contexts.label
        assert best[member.model, member.arm] == pytest.approx((errors**2).mean(), rel=1e-9)
    held_out = pd.DataFrame(trained["held_out"])
    own = held_out[held_out.setting == fold.mix.name]
    assert not {tuple(u) for u in json.loads(trained["specs"][0])["table"]["training"]} & set(
        zip(own.group, own.unit, strict=True)
    )


def test_reduced_training_reaches_least_squares(trained: dict):
    """Its risk is a quadratic form of W: y_q regressed on x_q ⊗ g, over the training contexts."""
    contexts = trained["folds"][0].training_contexts(N)
    summary = np.einsum("bid,bi->bd", contexts.x[:, :-1], contexts.y[:, :-1])
    products = (contexts.query[:, :, None] * summary[:, None]).reshape(len(summary), -1)
    fitted = products @ np.linalg.lstsq(products, contexts.label, rcond=None)[0]
    rows = pd.DataFrame(trained["runs"][0])
    plain = rows[(rows.model == "reduced") & (rows.arm == "plain")]
    assert plain.risk.min() == pytest.approx(((fitted - contexts.label) ** 2).mean(), rel=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
def test_predictions_are_those_of_attention_on_tokens(groups: int):
    """Against the sequence: a prompt, n tokens and the query; also where no unit of the last group
    is held out."""
    from decoupling.models.attention import Attention
    from decoupling.sources.table.tokens import Contexts

    rng = np.random.default_rng(0)
    task = np.arange(5) % groups
    contexts = Contexts(
        rng.standard_normal((5, 4, 2)), rng.standard_normal((5, 4)), np.arange(5), task
    )
    params = Attention(2, 2).initial_values(ARMS["joint_heads"].trains, [3], 0.7)
    found = predict(Attention(2, 2).forward(params), contexts, contexts.grams)
    query, key, value = (params[name][0, 0] for name in ("query", "key", "value"))
    for b, made in enumerate(found):
        tokens = np.column_stack([contexts.x[b], contexts.y[b]])
        tokens[-1, -1] = 0
        sequence = np.vstack([params["prompts"][0, task[b]], tokens])
        scores = sequence[-1] @ query @ key.T @ sequence[:-1].T
        assert made == pytest.approx(scores @ sequence[:-1] @ value @ params["heads"][0, task[b]])


def test_errors_are_by_bootstrap_over_clusters(trained: dict):
    """About what the spread of clusters' ratios says, by the usual linearisation."""
    held_out = pd.DataFrame(trained["held_out"])
    own = held_out[(held_out.model == "attention") & (held_out.arm == "joint")]
    sums = own.groupby("cluster")[["risk", "label_power"]].sum()
    ratio = sums.risk.sum() / sums.label_power.sum()
    rest = (sums.risk - ratio * sums.label_power).to_numpy()
    linear = (rest**2).sum() ** 0.5 / sums.label_power.sum()
    real = trained["real"]
    row = real[(real.model == "attention") & (real.arm == "joint")].iloc[0]
    assert row.normalized == pytest.approx(ratio, rel=1e-12)
    assert row.normalized_se == pytest.approx(linear, rel=0.15)
    assert row.risk == pytest.approx(own.risk.mean())


def test_prediction_and_measurement_have_one_denominator(trained: dict):
    """The E[y²] of the units that are held out, so that the difference is that of the risks."""
    held_out, real = pd.DataFrame(trained["held_out"]), trained["real"]
    power = held_out.label_power.mean()
    theory = pd.DataFrame(trained["theory"])
    units = held_out.groupby("setting").unit.nunique()
    for row in real[real.model == "reduced"].itertuples():
        assert row.label_power == pytest.approx(power)
        own = theory[(theory.curve == "measured") & (theory.arm == row.arm)].set_index("setting")
        risk = (own.risk * units).sum() / units.sum()
        assert row.measured_risk == pytest.approx(risk)
        assert row.measured == pytest.approx(risk / power)
        off = row.normalized - row.measured
        assert off == pytest.approx((row.risk - risk) / power)


def test_errors_of_differences_are_those_of_both_drawn_together(trained: dict):
    """A draw at a time, from the definition."""
    held_out, redrawn = pd.DataFrame(trained["held_out"]), pd.DataFrame(trained["redrawn"])
    held_out = held_out[held_out.model == "reduced"]
    names = sorted(held_out.cluster.unique())
    found = []
    for draw, weights in enumerate(cluster_weights(len(names))[:THEORY_DRAWS]):
        weight = held_out.cluster.map(dict(zip(names, weights, strict=True)))
        rows = held_out.assign(risk=weight * held_out.risk, power=weight * held_out.label_power)
        rows["weight"] = weight
        power = rows.power.sum() / rows.weight.sum()
        own = redrawn[(redrawn.draw == draw) & (redrawn.curve == "measured")]
        own = own.pivot_table(index="setting", columns="arm", values="risk")
        units = rows[rows.arm == "plain"].groupby("setting").weight.sum()
        line = {}
        for arm in ("plain", "joint"):
            part = rows[rows.arm == arm]
            predicted = (own[arm] * units).sum() / units.sum()
            line[arm] = (part.risk.sum() / part.weight.sum() - predicted) / power
        found.append(line | {"gain": line["plain"] - line["joint"]})
    errors = pd.DataFrame(found).std()
    rows = trained["real"][trained["real"].model == "reduced"].set_index("arm")
    for arm in ("plain", "joint"):
        assert rows.measured_se[arm] == pytest.approx(errors[arm])
    assert rows.measured_gain_se["joint"] == pytest.approx(errors["gain"])
    gates = redrawn.groupby("draw").gate.mean()
    assert rows.gate_se["plain"] == pytest.approx(gates.std())


def test_predictions_vary_between_draws_as_between_tables():
    """The error of a prediction is that of units drawn anew: 100 tables give its size to 7%, the
    200 draws of each of four tables to less, and a bootstrap of 80 units is a few percent off."""

    def fold(seed: int) -> Fold:
        rng = np.random.default_rng([7, seed])
        units = []
        for i in range(80):
            x = rng.standard_normal((6, 2))
            beta = [[1.0, -0.5], [-0.5, 1.5]][i % 2] + 0.5 * rng.standard_normal(2)
            y = x @ beta + 0.5 * rng.standard_normal(6)
            units.append(Unit(f"u{i:02d}", "ab"[i % 2], f"u{i:02d}", x, y))
        mix = estimate("x", sums_of(units, ["a", "b"], False, False)).mix
        return Fold(mix, ["a", "b"], units, [], False, False, N, mix.label_power)

    def predicted(fold: Fold) -> dict[str, float]:
        moments = FeatureMoments.measured(fold.moment_contexts().x)
        table = fold_table(fold.mix, moments, [N], fold.mix.label_power)
        return {row["arm"]: row["risk"] for row in table if row["curve"] == "measured"}

    between = pd.DataFrame([predicted(fold(seed)) for seed in range(100)]).std()
    drawn = []
    for seed in range(4):
        rows = pd.DataFrame(redrawn_rows(fold(seed), [N]))
        drawn.append(rows[rows.curve == "measured"].groupby("arm").risk.std())
    within = pd.DataFrame(drawn).mean()
    for arm in ARM_NAMES:
        assert within[arm] == pytest.approx(between[arm], rel=0.3)


@pytest.mark.filterwarnings("error")
def test_three_units_of_a_group_are_enough(tmp_path: Path):
    """Draws weigh some of them by next to nothing."""
    block = write(tmp_path / "t.csv", make_rows(12, 10)) | {"folds": 2, "fold": 0}
    fold = read_fold(make_spec("x.fold0", block, N), block["table"])
    rows = pd.DataFrame(redrawn_rows(fold, [1, N]))
    assert np.isfinite(rows[["risk", "gate"]]).all(axis=None)
    assert (rows.risk > 0).all()


def test_gains_are_paired(trained: dict):
    real = trained["real"]
    rows = real[real.model == "reduced"].set_index("arm")
    gain = rows.normalized["plain"] - rows.normalized["joint"]
    assert rows.gain["joint"] == pytest.approx(gain)
    assert rows.gain["plain"] == rows.gain_se["plain"] == 0
    both = np.hypot(rows.normalized_se["plain"], rows.normalized_se["joint"])
    assert 0 < rows.gain_se["joint"] < both


def test_gate_compares_label_powers(trained: dict):
    powers = [
        fold.mix.label_power / json.loads(spec)["table"]["label_power"]
        for fold, spec in zip(trained["folds"], trained["specs"], strict=True)
    ]
    assert trained["real"].gate.iloc[0] == pytest.approx(np.mean(powers))
    assert abs(trained["real"].gate.iloc[0] - 1) < 0.1


def test_a_gate_that_fails_is_said_fold_by_fold(trained: dict, caplog: pytest.LogCaptureFixture):
    fold, redrawn = trained["folds"][0], pd.DataFrame(trained["redrawn"])
    rows = redrawn[redrawn.setting == fold.mix.name].to_dict("records")
    error = pd.DataFrame(rows).groupby("draw").gate.first().std()
    numbers = f"{fold.gate:.3f} ± {error:.3f}"
    with caplog.at_level("INFO"):
        assert gate_warning(fold, rows) is None
    assert numbers in caplog.text
    off = replace(fold, label_power=1.5 * fold.label_power)
    assert f"{fold.gate / 1.5:.3f} ± {error:.3f}, so that the mix" in gate_warning(off, rows)


def test_blup_is_the_best_baseline_here(trained: dict):
    """The table's effects are Gaussian, so that it is close to Bayes-optimal."""
    real = trained["real"]
    rows = real[real.model == "baseline"].set_index("arm").normalized
    assert rows["blup"] == rows.min()
    assert rows["ridge"] < rows["ols"]


def test_baselines_are_what_they_say(trained: dict):
    fold: Fold = trained["folds"][0]
    contexts = fold.held_out_contexts(N)
    made = baselines(fold, N, contexts)
    x, y, query = contexts.x[0, :-1], contexts.y[0, :-1], contexts.query[0]
    ols = np.linalg.lstsq(x, y, rcond=None)[0]
    assert made["ols"][0] == pytest.approx(query @ ols)
    penalty = choose_penalty(fold.training_contexts(N))
    ridge = np.linalg.solve(x.T @ x + penalty * np.eye(2), x.T @ y)
    assert made["ridge"][0] == pytest.approx(query @ ridge)
    mean, cov = fold.mix.means[contexts.task[0]], fold.mix.covs[contexts.task[0]]
    assert made["group_mean"][0] == pytest.approx(query @ mean)
    inverse = np.linalg.inv(x @ cov @ x.T + fold.mix.noise_var * np.eye(N))
    assert made["blup"][0] == pytest.approx(query @ (mean + cov @ x.T @ inverse @ (y - x @ mean)))
    rows = np.concatenate([np.column_stack([u.x, u.y]) for u in fold.training])
    pooled = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    assert made["pooled"][0] == pytest.approx(query @ pooled)
