"""Moments with the query in them: risk, gradient and shifted labels against literal contexts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from decoupling.problem import query_moments
from decoupling.problem.one_layer import OneLayer
from decoupling.problem.query_moments import QueryMoments, RawMoments, assemble

DIM, TASKS, N, COUNT, SEEDS = 3, 2, 4, 300, 4


@dataclass(frozen=True)
class Literal:
    """Contexts whose rows share something, the query among them."""

    x: np.ndarray
    y: np.ndarray
    task: np.ndarray

    @classmethod
    def make(cls) -> Literal:
        rng = np.random.default_rng(4)
        x = rng.standard_normal((COUNT, N + 1, DIM)) + rng.standard_normal((COUNT, 1, DIM))
        noise = rng.standard_normal((COUNT, N + 1))
        y = noise + np.einsum("bid,bd->bi", x, rng.standard_normal((COUNT, DIM)))
        return cls(x, y, rng.integers(TASKS, size=COUNT))

    @property
    def grams(self) -> np.ndarray:
        tokens = np.concatenate([self.x, self.y[..., None]], axis=-1)[:, :-1]
        return tokens.mT @ tokens

    def raw(self) -> list[RawMoments]:
        chosen = [self.task == k for k in range(TASKS)]
        parts = self.x[:, -1], self.y[:, -1], self.grams
        return [RawMoments.of(*(part[own] for part in parts), COUNT) for own in chosen]

    def risk(self, model: OneLayer) -> np.ndarray:
        """Context by context."""
        found = np.zeros(SEEDS)
        for seed in range(SEEDS):
            for x, y, gram, k in zip(self.x, self.y, self.grams, self.task, strict=True):
                readout = model.readouts[min(k, len(model.readouts) - 1), seed]
                features = gram @ readout
                if model.prompts is not None:
                    prompt = model.prompts[k, seed]
                    features = features + prompt * (prompt @ readout)
                found[seed] += (x[-1] @ model.scores[seed] @ features - y[-1]) ** 2
        return found / COUNT


@pytest.fixture(scope="module")
def literal() -> Literal:
    return Literal.make()


@pytest.fixture(scope="module")
def moments(literal: Literal) -> QueryMoments:
    return assemble(literal.raw())


def model(heads: int, prompts: bool) -> OneLayer:
    rng = np.random.default_rng([heads, prompts])
    return OneLayer(
        0.3 * rng.standard_normal((SEEDS, DIM, DIM + 1)),
        rng.standard_normal((heads, SEEDS, DIM + 1)),
        rng.standard_normal((TASKS, SEEDS, DIM + 1)) if prompts else None,
    )


MODELS = [(heads, prompts) for heads in (1, TASKS) for prompts in (False, True)]


@pytest.mark.parametrize(("heads", "prompts"), MODELS)
def test_risk_is_the_literal_one(literal, moments, heads: int, prompts: bool):
    made = model(heads, prompts)
    assert moments.risk(made) == pytest.approx(literal.risk(made), rel=1e-12)


def test_slices_sum_to_the_whole(literal, monkeypatch):
    """Of which the last is shorter."""
    whole = literal.raw()
    monkeypatch.setattr(query_moments, "SLICE", 13)
    for one, other in zip(whole, literal.raw(), strict=True):
        for name, values in vars(one).items():
            rounding = 1e-14 * np.abs(values).max()
            np.testing.assert_allclose(getattr(other, name), values, rtol=0, atol=rounding)


@pytest.mark.parametrize(("heads", "prompts"), MODELS)
def test_gradient_is_the_slope_of_the_risk(moments, heads: int, prompts: bool):
    made, rng = model(heads, prompts), np.random.default_rng(0)
    _, grad = moments.risk_and_gradient(made)
    for name in ("scores", "readouts", "prompts"):
        value = getattr(made, name)
        if value is None:
            assert getattr(grad, name) is None
            continue
        step = 1e-5 * rng.standard_normal(value.shape)
        ahead, behind = (moments.risk(replace(made, **{name: value + s})) for s in (step, -step))
        slope = (getattr(grad, name) * step).sum()
        assert (ahead - behind).sum() / 2 == pytest.approx(slope, rel=1e-5)


def test_shifted_labels(literal):
    """Moments of y − xᵀs are those of contexts with such labels."""
    slopes = np.random.default_rng(6).standard_normal((TASKS, DIM))
    shifted = assemble([raw.less(s) for raw, s in zip(literal.raw(), slopes, strict=True)])
    y = literal.y - np.einsum("bid,bd->bi", literal.x, slopes[literal.task])
    made = model(TASKS, True)
    assert shifted.risk(made) == pytest.approx(replace(literal, y=y).risk(made), rel=1e-10)
