"""Standard units: the same model, the same training, whatever the data's units are."""

from __future__ import annotations

from dataclasses import replace

import configs
import mixtures
import numpy as np
import pytest
from decoupling import engines, models
from decoupling.models.arms import ARMS
from decoupling.models.curve import Curve
from decoupling.problem.gram import GramBatch
from decoupling.problem.mixture import TaskMixture
from decoupling.problem.packing import packing
from decoupling.problem.scaling import Scaling
from decoupling.problem.sequences import SequenceBatch
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.theory.optimum import optima
from decoupling.train.loop import Trained, train
from decoupling.train.recipe import Recipe, Run
from decoupling.train.state import TrainState

MIX = mixtures.random_mixture(np.random.default_rng(5), 3, 2, 0.5)
N = 6
SHIPPED = configs.read().protocols["laptop"].recipes
MODEL_ARMS = [
    (module, arm)
    for module, model in models.modules().items()
    for arm in ARMS
    if not model.unsupported(ARMS[arm].trains)
]


def in_units(mix: TaskMixture, of_x: float, of_y: float) -> TaskMixture:
    """The mixture of x and y times these numbers."""
    slope = of_y / of_x
    return replace(
        mix,
        means=slope * mix.means,
        covs=slope**2 * mix.covs,
        sigma_x=of_x**2 * mix.sigma_x,
        noise_var=of_y**2 * mix.noise_var,
    )


def test_standard_mixture():
    """White x and E[y²] = 1; the labels of features in data units are s times as large."""
    scaling = Scaling.of(MIX, N)
    standard = scaling.standardised(MIX)
    assert np.array_equal(standard.sigma_x, np.eye(MIX.dim))
    assert standard.label_power == pytest.approx(1, rel=1e-14)
    x = np.random.default_rng(0).standard_normal((4, MIX.dim))
    labels = scaling.label * x @ standard.means.T
    assert labels == pytest.approx(x @ scaling.features.T @ MIX.means.T, rel=1e-12)
    assert scaling.token @ scaling.inverse_token == pytest.approx(np.eye(MIX.dim + 1), abs=1e-14)


def in_data_units(batch: GramBatch | SequenceBatch, scaling: Scaling):
    """The same contexts."""
    back = scaling.inverse.features.T * scaling.label
    if isinstance(batch, GramBatch):
        pack = packing(MIX.dim + 1)
        grams = (np.einsum("ai,bj,ijc->abc", *[scaling.token] * 2, s) for s in batch.grams)
        packed = [scaling.tokens * gram[pack.rows, pack.cols] for gram in grams]
        return GramBatch(packed, [back @ beta for beta in batch.betas])
    return SequenceBatch(
        [np.einsum("ai,tib->tab", scaling.token, tokens) for tokens in batch.tokens],
        [scaling.features @ x for x in batch.queries],
        [scaling.label * target for target in batch.targets],
    )


@pytest.mark.parametrize(("module", "arm"), MODEL_ARMS)
def test_model_is_the_same_in_other_units(module: str, arm: str):
    """Every model that there is, on the same contexts: errors are s² times as large. Engines have
    single precision, of which a few layers take some."""
    model = models.load(module)
    layers = next(depth for depth in (2, 1) if model.supports_depth(depth))
    made = model(MIX.dim, MIX.tasks, layers)
    arm = ARMS[arm].trains
    everything = replace(arm, weights=True)
    params = made.initial_values(everything, range(2), 0.5) | made.fixed_values(arm, 2)
    scaling, contexts = Scaling.of(MIX, N), GaussianContexts(MIX, N)
    sees = [engines.load(model.engine)(own) for own in (contexts.standardised(scaling), contexts)]
    batch = sees[0].data(Stream.TRAINING, 0, 64, 1.0, False)
    if not isinstance(batch, GramBatch | SequenceBatch):
        batch = contexts.standardised(scaling).batch(Stream.TRAINING, 0, 64)
    other = made.from_standard(params, scaling)
    found = []
    for engine, values, seen in zip(
        sees, (params, other), (batch, in_data_units(batch, scaling)), strict=True
    ):
        arrays = {name: engine.from_numpy(np.asarray(a)) for name, a in values.items()}
        found.append(engine.errors(made, arrays, seen))
    standard, data = found
    assert data == pytest.approx(
        scaling.label**2 * standard, rel=2e-3, abs=2e-4 * float(data.max())
    )


def runs(recipe: Recipe, module: str, layers: int, arms: tuple[str, ...]) -> list[Run]:
    name = models.load(module).name
    curves = [Curve(MIX.name, module, name, layers, arm, ARMS[arm].trains) for arm in arms]
    return [Run(curve, recipe) for curve in curves]


def arms_of(module: str) -> tuple[str, ...]:
    """All that the model has."""
    return tuple(arm for name, arm in MODEL_ARMS if name == module)


def normalised(trained: Trained, mix: TaskMixture) -> np.ndarray:
    return np.array([row["risk"] for row in trained.rows]) / mix.label_power


SHORT = Recipe(iterations=40, lr=0.01, prompt_lr_factor=3, standard_units=True, means_warmup=0.5)
BATCHES = replace(SHORT, batch_size=64, test_contexts=256)
KINDS = {
    "exact": (SHORT, "attention", 1),
    "reduced": (SHORT, "reduced", 1),
    "batches": (BATCHES, "attention", 1),
    "deep": (replace(BATCHES, importance_sampling=True), "deep_attention", 2),
    "softmax": (BATCHES, "softmax", 1),
    "transformer": (replace(BATCHES, iterations=10), "transformer", 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("of_x", "of_y"), [(2.0**10, 2.0**-5), (2.0**-10, 2.0**20)])
def test_powers_of_two_give_the_same_bits(kind: str, of_x: float, of_y: float):
    recipe, module, layers = KINDS[kind]
    wanted = runs(recipe, module, layers, arms_of(module))
    found = [
        normalised(train(GaussianContexts(mix, N), wanted, range(3)), mix)
        for mix in (MIX, in_units(MIX, of_x, of_y))
    ]
    assert np.array_equal(*found)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e3, 1e-3), (1e-3, 1.0), (1.0, 1e3)])
def test_other_units_give_the_same_result(of_x: float, of_y: float):
    """Rounding at the start, 1e-16, grows by at most a few per step of 40."""
    wanted = runs(SHORT, "attention", 1, arms_of("attention"))
    found = [
        normalised(train(GaussianContexts(mix, N), wanted, range(3)), mix)
        for mix in (MIX, in_units(MIX, of_x, of_y))
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-10)


@pytest.mark.parametrize("module", ["attention", "reduced"])
def test_parameters_are_saved_in_the_units_of_the_data(module: str):
    """The reported risk is the exact risk that the saved parameters have on the data."""
    mix = in_units(MIX, 30.0, 0.02)
    contexts = GaussianContexts(mix, N)
    trained = train(contexts, runs(SHORT, module, 1, ("plain", "shared", "finetune", "joint")), [0])
    for row in trained.rows:
        own = [p for p in trained.parameters if p["arm"] == row["arm"]]
        params = {p["name"]: np.reshape(p["values"], (1, *p["shape"])) for p in own}
        model = models.load(module)(mix.dim, mix.tasks)
        risk = contexts.moments().risk(model.forward(params)).item()
        assert row["risk"] == pytest.approx(risk, rel=1e-11)


UNITS = {"as given": (1, 1), "large x": (1e3, 1e3), "small x": (1e-3, 1e-3), "large y": (1, 1e3)}


@pytest.mark.parametrize("units", UNITS)
def test_shipped_recipe_finds_the_optimum_in_any_units(units: str):
    """The recipe of one layer in an eighth of its steps, on units at which training once failed."""
    mix = in_units(mixtures.make_spec("small", SMALL), *UNITS[units])
    block, best = SHIPPED["one_layer"], optima(mix, 20)
    short = {
        arm: replace(block.of(arm), iterations=2500) for arm in ("plain", "joint", "joint_heads")
    }
    wanted = [run for arm in short for run in runs(short[arm], "attention", 1, (arm,))]
    trained = train(GaussianContexts(mix, 20), wanted, range(4))
    for arm in short:
        least = min(row["risk"] for row in trained.rows if row["arm"] == arm)
        assert least == pytest.approx(best[arm], rel=5e-3)


SMALL = {"d": 4, "weights": [0.3, 0.7], "means": [1.7, -1.3], "covs": [1, 1], "noise_var": 0}


@pytest.mark.parametrize("units", UNITS)
def test_optimum_is_the_same_in_any_units(units: str):
    mix = mixtures.make_spec("small", SMALL)
    other = in_units(mix, *UNITS[units])
    found, expected = optima(other, 5), optima(mix, 5)
    for arm, risk in found.items():
        assert risk / other.label_power == pytest.approx(expected[arm] / mix.label_power, rel=1e-8)


@pytest.mark.parametrize(("dim", "share"), [(4, 1.0), (10, 1.0), (43, 0.5)])
def test_larger_models_start_closer_to_zero_and_take_shorter_steps(dim: int, share: float):
    """In standard units; up to d = 10 as in others. Adam's first step is the learning rate."""
    mix = mixtures.random_mixture(np.random.default_rng(0), dim, 2, 0.5)
    run = Run(Curve(mix.name, "attention", "attention", 1, "joint", ARMS["joint"].trains), Recipe())
    contexts, scaling = GaussianContexts(mix, N), Scaling.of(mix, N)
    engine = engines.load("moments")(contexts.standardised(scaling))
    usual, standard = (
        TrainState(run, engine, (dim, 2), [0, 1], scaling=units) for units in (None, scaling)
    )
    assert np.array_equal(standard.theta, share * usual.theta)
    before = standard.theta.copy()
    standard.step(0, contexts.standardised(scaling).moments())
    lengths = np.abs(standard.theta - before)
    assert lengths.max() == pytest.approx(share * run.recipe.lr, rel=1e-6)
