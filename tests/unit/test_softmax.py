"""Softmax attention and transformers: the fast passes against literal ones, and what is nested."""

from __future__ import annotations

from dataclasses import replace

import agreement
import literal
import mixtures
import numpy as np
import pytest
import torch
from decoupling.analysis.prompt_share import shares
from decoupling.engines import softmax as softmax_engine
from decoupling.engines.sequences import SequenceEngine
from decoupling.engines.softmax import CompiledEngine
from decoupling.models.arms import ARMS
from decoupling.models.base import Model
from decoupling.models.curve import Curve
from decoupling.models.softmax import Softmax
from decoupling.models.transformer import Transformer
from decoupling.problem.sequences import SequenceBatch
from decoupling.problem.streams import Stream
from decoupling.sources.gaussian.contexts import GaussianContexts
from decoupling.train.loop import train
from decoupling.train.recipe import Recipe, Run
from torch.nn import functional

SOFTMAX_ARMS = [arm for arm in ARMS if Softmax.unsupported(ARMS[arm].trains) is None]
TRANSFORMER_ARMS = [arm for arm in ARMS if Transformer.unsupported(ARMS[arm].trains) is None]
SEEDS = range(3)
# (d, K, n, σ², contexts, heads): more than a block and less, sizes that no vector divides
# The last has loops.
SHAPES = [
    *[(10, 2, 20, 5.0, 300, 2), (3, 2, 1, 0.7, 5, 1), (1, 3, 4, 0.5, 200, 3)],
    (30, 2, 6, 0.5, 70, 2),
]


class DoubleEngine(SequenceEngine):
    """With enough digits to compare."""

    def from_numpy(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).double()


def mixture(shape: tuple):
    dim, tasks, n, noise, *_ = shape
    return mixtures.random_mixture(np.random.default_rng([dim, tasks]), dim, tasks, noise), n


def parameters(model: Model, arm: str, std: float = 0.4) -> dict[str, np.ndarray]:
    """Random ones of every kind that the arm has, in single precision."""
    parts = ARMS[arm].trains
    weights = replace(parts, weights=True, prompts=False, heads=False, shared_prompt=False)
    found = model.initial_values(weights, SEEDS, std) | model.fixed_values(parts, len(SEEDS))
    own = model.initial_values(replace(parts, weights=True), SEEDS, std)
    found |= {name: own[name] for name in model.trained_shapes(parts)}
    return {name: value.astype(np.float32) for name, value in found.items()}


def batch_of(sequences: literal.Sequences, tasks: int) -> SequenceBatch:
    """The library's view of literal sequences."""
    z = literal.tokens(sequences, None)
    target = (sequences.x[:, -1] * sequences.beta).sum(1)
    members = [sequences.task == k for k in range(tasks)]
    return SequenceBatch(
        [z[m, :-1].permute(1, 2, 0).contiguous().numpy() for m in members],
        [z[m, -1, :-1].T.contiguous().numpy() for m in members],
        [target[m].numpy() for m in members],
    )


def literal_transformer(
    model: Transformer, params: dict[str, torch.Tensor], sequences: literal.Sequences
) -> torch.Tensor:
    """ŷ of one seed, block by block with torch's own modules in function form; [B]."""
    z = literal.tokens(sequences, params.get("prompts"))
    mask = torch.ones(z.shape[1], z.shape[1], dtype=torch.bool)
    mask[:, -1] = False
    width, heads = model.width, model.attention_heads
    state = functional.linear(z, params["read_in"][:-1].T, params["read_in"][-1])
    for block in range(model.layers):
        norms, (wq, wk, wv, wo) = params["norms"][block], params["attention"][block]
        x = functional.layer_norm(state, (width,), 1 + norms[0, 0], norms[0, 1])
        q, k, v = ((x @ w).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (wq, wk, wv))
        attended = functional.scaled_dot_product_attention(q, k, v, mask)
        state = state + attended.transpose(1, 2).flatten(2) @ wo
        x = functional.layer_norm(state, (width,), 1 + norms[1, 0], norms[1, 1])
        hidden, back = params["hidden"][block], params["back"][block]
        inner = functional.relu(functional.linear(x, hidden[:-1].T, hidden[-1]))
        state = state + functional.linear(inner, back[:-1].T, back[-1])
    head = params["read_out"][:-1]
    if "heads" in params:
        head = head + params["heads"][sequences.task]
    return (state[:, -1] * head).sum(-1) + params["read_out"][-1]


def losses(predict, params: dict, sequences: literal.Sequences) -> list[torch.Tensor]:
    """Of every seed, the squared error without the noise of the query's label; [B]."""
    target = (sequences.x[:, -1] * sequences.beta).sum(1)
    return [
        (predict({name: value[seed] for name, value in params.items()}, sequences) - target) ** 2
        for seed in SEEDS
    ]


def check_against_literal(model, arm: str, shape: tuple, predict) -> None:
    """Risk, gradient and errors in double precision by the engine in torch."""
    mix, n = mixture(shape)
    sequences = literal.draw_sequences(mix, n, 40, torch.Generator().manual_seed(1))
    batch = batch_of(sequences, mix.tasks)
    params = {name: torch.tensor(x).double() for name, x in parameters(model, arm).items()}
    engine = DoubleEngine(GaussianContexts(mix, n))
    trained = list(model.trained_shapes(ARMS[arm].trains))
    out = {name: torch.ones_like(params[name]) for name in trained}  # what was there does not count
    risks = engine.risk_and_gradient(model, batch, params, out)
    for name in trained:
        params[name].requires_grad_()
    found = losses(predict, params, sequences)
    wanted = torch.autograd.grad(sum(x.mean() for x in found), [params[name] for name in trained])
    means = [x.mean().item() + mix.noise_var for x in found]
    np.testing.assert_allclose(risks, means, rtol=1e-10)
    for name, expected in zip(trained, wanted, strict=True):
        torch.testing.assert_close(out[name], expected, rtol=1e-8, atol=1e-10)
    by_task = torch.argsort(sequences.task, stable=True)
    errors = engine.errors(model, {k: v.detach() for k, v in params.items()}, batch)
    for seed in SEEDS:
        np.testing.assert_allclose(errors[seed], found[seed].detach()[by_task], rtol=1e-9)


@pytest.mark.parametrize("arm", SOFTMAX_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"d{shape[0]}-H{shape[-1]}")
def test_softmax_is_the_literal_one(shape: tuple, arm: str):
    model = Softmax(shape[0], shape[1], 1, shape[-1])
    check_against_literal(model, arm, shape, literal.predict_softmax)


@pytest.mark.parametrize("arm", SOFTMAX_ARMS)
def test_the_literal_step_that_speed_is_measured_against(arm: str):
    mix, n = mixture(SHAPES[0])
    sequences = literal.draw_sequences(mix, n, 40, torch.Generator().manual_seed(1))
    made = parameters(Softmax(mix.dim, mix.tasks, 1, 2), arm)
    params = {name: torch.tensor(value[0]).double() for name, value in made.items()}
    whole, row = (
        predict(params, sequences)
        for predict in (literal.predict_softmax, literal.softmax_from_query)
    )
    torch.testing.assert_close(row, whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("arm", TRANSFORMER_ARMS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_transformer_is_the_literal_one(layers: int, arm: str):
    shape = SHAPES[1]
    model = Transformer(shape[0], shape[1], layers, 6, 2)
    check_against_literal(
        model, arm, shape, lambda params, sequences: literal_transformer(model, params, sequences)
    )


@pytest.mark.parametrize("arm", SOFTMAX_ARMS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"d{shape[0]}-H{shape[-1]}")
def test_compiled_pass_against_autograd_in_double_precision(shape: tuple, arm: str):
    """A sum of some hundred products in single precision is off by some multiples of 6e-8; scores
    up to some tens are off by as many times more, and so are their exponentials."""
    mix, n = mixture(shape)
    contexts, count, heads = GaussianContexts(mix, n), *shape[-2:]
    model = Softmax(mix.dim, mix.tasks, 1, heads)
    single = parameters(model, arm, 0.4 * min(1, 10 / mix.dim) ** 0.75)  # scores as at d = 10
    exact = {name: torch.from_numpy(value).double() for name, value in single.items()}
    batch = contexts.sequences(Stream.TRAINING, 0, count)
    engine, oracle = CompiledEngine(contexts), DoubleEngine(contexts)
    out = {name: np.ones_like(single[name]) for name in model.trained_shapes(ARMS[arm].trains)}
    wanted = {name: torch.ones_like(exact[name]) for name in out}
    risks = engine.risk_and_gradient(model, batch, single, out)
    expected = oracle.risk_and_gradient(model, batch, exact, wanted)
    np.testing.assert_allclose(risks, expected, rtol=1e-5)
    for name, found in out.items():
        # where the query's row is of one token, the weights' gradient is 0 but for rounding
        scale = np.abs(wanted[name].numpy()).max(tuple(range(1, found.ndim)), keepdims=True)
        assert (np.abs(found - wanted[name].numpy()) <= 2e-5 * scale + 1e-5).all(), name
    errors = engine.errors(model, single, batch)
    assert errors.shape == (len(SEEDS), count)
    np.testing.assert_allclose(errors, oracle.errors(model, exact, batch), rtol=1e-4, atol=1e-4)


def example() -> tuple[GaussianContexts, Softmax, SequenceBatch]:
    """Contexts, a model of two attention heads, and a batch."""
    mix, n = mixture(SHAPES[0])
    contexts = GaussianContexts(mix, n)
    return contexts, Softmax(mix.dim, mix.tasks, 1, 2), contexts.sequences(Stream.TRAINING, 0, 100)


def test_prompts_share_of_attention():
    _, model, batch = example()
    single = parameters(model, "joint")
    found = np.stack(
        [shares(model.forward({k: v[[s]] for k, v in single.items()}), batch) for s in SEEDS]
    )
    assert found.shape == (len(SEEDS), 2, 100)
    tokens, queries = (np.concatenate(x, -1) for x in (batch.tokens, batch.queries))
    tasks = np.repeat(np.arange(model.tasks), [len(x) for x in batch.targets])
    scores = single["key"] @ single["query"].mT
    u = np.einsum("shij,jb->shib", scores[..., :-1], queries)
    own = np.einsum("shib,sbi->shb", u, single["prompts"][:, tasks])
    others = np.einsum("shib,nib->shnb", u, tokens)
    with np.errstate(over="ignore"):
        expected = 1 / (1 + np.exp(others - own[:, :, None]).sum(2))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)


def test_small_scores_are_linear_attention_with_centred_keys():
    """softmax(εs) = 1/T + ε(s − s̄)/T + O(ε²): what is left after two terms falls as ε²."""
    mix, n = mixture(SHAPES[0])
    model = Softmax(mix.dim, mix.tasks, 1, 1)
    params = {name: torch.tensor(x).double() for name, x in parameters(model, "plain").items()}
    sequences = literal.draw_sequences(mix, n, 50, torch.Generator().manual_seed(2))
    z = literal.tokens(sequences, None)
    context, asked = z[:, :-1], z[:, -1]
    query, key, value = (params[name][0, 0] for name in ("query", "key", "value"))
    said = (context @ value)[..., -1]
    keys = context @ key
    linear = ((keys - keys.mean(1, keepdim=True)) @ (asked @ query)[..., None])[..., 0]
    constant, first = said.mean(1), (linear * said).mean(1)
    arrays = torch.from_numpy(sequences.task.numpy())
    left = []
    for scale in (1e-2, 1e-3):
        small = {**params, "query": scale * params["query"]}
        found = model.predict(small, context, asked[:, :-1], arrays)[0]
        left.append((found - constant - scale * first).abs().max().item())
    assert left[0] < 0.05 * 1e-2 * first.abs().max()
    assert left[1] == pytest.approx(left[0] / 100, rel=0.1)


def test_a_diverged_seed_leaves_the_others_alone():
    contexts, model, batch = example()
    single, engine = parameters(model, "joint"), CompiledEngine(contexts)
    agreement.assert_a_diverged_seed_is_alone(engine, model, batch, single, (np.nan, np.inf))


def test_large_scores_do_not_overflow():
    """Softmax of scores in the thousands is a maximum."""
    contexts, model, batch = example()
    single = parameters(model, "joint", 1.0)
    single["query"] *= 1000
    exact = {name: torch.from_numpy(value).double() for name, value in single.items()}
    errors = CompiledEngine(contexts).errors(model, single, batch)
    expected = DoubleEngine(contexts).errors(model, exact, batch)
    close = np.isclose(errors, expected, rtol=1e-3, atol=1e-3)
    assert np.isfinite(errors).all()
    assert close.mean() > 0.98  # ties, decided by rounding


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_and_blocks_of_seeds_change_no_bit(threads: int):
    contexts, model, batch = example()
    single = parameters(model, "joint_heads")
    agreement.assert_threads_change_no_bit(CompiledEngine, contexts, model, batch, single, threads)


@pytest.mark.parametrize("dim", [3, 200])
def test_only_gpus_are_left_to_torch(dim: int):
    mix = mixtures.random_mixture(np.random.default_rng(0), dim, 1, 0.0)
    assert isinstance(softmax_engine.engine(GaussianContexts(mix, 2)), CompiledEngine)


def test_sequences_have_the_moments_of_the_literal_ones():
    """Of z zᵀ, xᵀβ and their products, by 4 standard errors of the difference: one false alarm in
    16,000 each, and there are 60."""
    mix, n = mixture(SHAPES[1])
    n, count = 3, 40_000
    batch = GaussianContexts(mix, n).sequences(Stream.TRAINING, 0, count)
    sequences = literal.draw_sequences(mix, n, count, torch.Generator().manual_seed(3))
    ours, theirs = (
        np.concatenate(_features(made), 1) for made in (batch, batch_of(sequences, mix.tasks))
    )
    error = np.sqrt((ours.var(1) + theirs.var(1)) / count)
    assert (np.abs(ours.mean(1) - theirs.mean(1)) < 4 * error).all()


def _features(batch: SequenceBatch) -> list[np.ndarray]:
    """Of every task: [features, B_k]; the task itself is one."""
    found = []
    for k, (tokens, query, target) in enumerate(
        zip(batch.tokens, batch.queries, batch.targets, strict=True)
    ):
        first, last = tokens[0], tokens[-1]
        outer = (first[:, None] * last[None]).reshape(-1, len(target))
        square = (first[:, None] * first[None]).reshape(-1, len(target))
        asked = query * target
        found.append(np.concatenate([outer, square, asked, asked * first[-1], [target * 0 + k]]))
    return found


def test_batches_are_numbered_and_means_scaled():
    mix, n = mixture(SHAPES[0])
    contexts = GaussianContexts(mix, n)
    one, two = (contexts.sequences(Stream.TRAINING, 3, 50) for _ in range(2))
    for key in ("tokens", "queries", "targets"):
        for ours, again in zip(getattr(one, key), getattr(two, key), strict=True):
            assert np.array_equal(ours, again)
    other = contexts.sequences(Stream.TRAINING, 4, 50)
    assert not np.array_equal(one.queries[0][:, :5], other.queries[0][:, :5])
    scaled = contexts.sequences(Stream.TRAINING, 3, 50, 0.0)
    for k in range(mix.tasks):  # the same x; the label lacks xᵀμ
        assert np.array_equal(one.queries[k], scaled.queries[k])
        gap = one.targets[k] - scaled.targets[k]
        np.testing.assert_allclose(gap, mix.means[k] @ one.queries[k], rtol=1e-3, atol=1e-5)


RECIPE = Recipe(
    batch_size=128, iterations=150, lr=0.05, schedule="cosine", prompt_lr_factor=3,
    test_contexts=4000,
)  # fmt: skip


def runs(model: str, arms: list[str], layers: int = 1) -> list[Run]:
    sizes = (("attention_heads", 2),)
    sizes = sizes if model == "softmax" else (("width", 8), *sizes)
    curves = [Curve("x", model, model, layers, arm, ARMS[arm].trains, sizes) for arm in arms]
    return [Run(curve, RECIPE) for curve in curves]


@pytest.fixture(scope="module")
def trained() -> dict[str, list[dict]]:
    mix = mixtures.random_mixture(np.random.default_rng(5), 2, 2, 0.0)
    arms = ["plain", "zero_prompt", "shared", "finetune", "joint", "joint_heads"]
    made = train(GaussianContexts(mix, 1), runs("softmax", arms), range(4))
    power = mix.label_power
    rows = {arm: [r for r in made.rows if r["arm"] == arm] for arm in arms}
    for row in made.rows:
        row["normalized"], row["normalized_se"] = row["risk"] / power, row["risk_se"] / power
    return rows


def best(rows: list[dict]) -> dict:
    return min(rows, key=lambda row: row["selection_risk"])


def test_one_token_tells_plain_nothing_of_the_query(trained):
    """Softmax over one token is 1, so the prediction does not depend on the query. Queries are
    symmetric about 0, so that no such prediction is better than 0."""
    row = best(trained["plain"])
    assert row["normalized"] > 1 - 4 * row["normalized_se"]
    mix = mixtures.random_mixture(np.random.default_rng(5), 2, 2, 0.0)
    made = parameters(Softmax(2, 2, 1, 2), "plain")
    params = {name: torch.tensor(value[0]).double() for name, value in made.items()}
    sequences = literal.draw_sequences(mix, 1, 50, torch.Generator().manual_seed(1))
    one, other = (sequences.with_query(torch.tensor(query)) for query in ([1.0, 0.0], [-2.0, 3.0]))
    predicted = [literal.predict_softmax(params, asked) for asked in (one, other)]
    torch.testing.assert_close(*predicted, rtol=1e-12, atol=1e-12)


def test_prompts_lower_the_risk(trained):
    """Also one of zeros, which linear attention would not see: without, no risk is below 1 here."""
    row = best(trained["zero_prompt"])
    assert row["normalized"] < 1 - 4 * row["normalized_se"]
    for less, more in (("zero_prompt", "joint"), ("shared", "joint"), ("finetune", "joint")):
        lower, upper = best(trained[more]), best(trained[less])
        assert lower["normalized"] < upper["normalized"] + 3 * upper["normalized_se"]


def test_parameters_of_a_zero_prompt_are_kept():
    mix = mixtures.random_mixture(np.random.default_rng(5), 2, 2, 0.0)
    made = train(GaussianContexts(mix, 2), runs("softmax", ["zero_prompt"]), range(2))
    (prompt,) = [row for row in made.parameters if row["name"] == "prompts"]
    assert prompt["shape"] == [1, 3]
    assert prompt["values"] == [0.0] * 3


def test_a_seed_is_the_same_in_any_block_of_seeds():
    mix = mixtures.random_mixture(np.random.default_rng(5), 2, 2, 0.5)
    for model in ("softmax", "transformer"):
        chosen = [replace(r, recipe=replace(RECIPE, iterations=10)) for r in runs(model, ["joint"])]
        whole, part = (train(GaussianContexts(mix, 2), chosen, seeds).rows for seeds in
                       (range(3), range(1, 2)))  # fmt: skip
        assert part[0]["risk"] == pytest.approx(whole[1]["risk"], rel=1e-6)


def test_a_transformer_learns_from_its_context():
    mix = mixtures.random_mixture(np.random.default_rng(5), 2, 2, 0.0)
    made = train(GaussianContexts(mix, 8), runs("transformer", ["joint"], 2), range(2))
    row, without = best(made.rows), np.trace(mix.sigma_x @ mix.debiased_cov)  # x_qᵀμ_k reaches it
    assert row["risk"] < without - 4 * row["risk_se"]


def test_where_one_token_has_all_the_weight_scores_have_no_gradient():
    """Exactly: Adam would make full steps of what rounding leaves. With one token; and with scores
    so large that the others' weights vanish."""
    mix, _ = mixture(SHAPES[0])
    for n, scale in ((1, 1.0), (5, 1e10)):
        contexts = GaussianContexts(mix, n)
        model = Softmax(mix.dim, mix.tasks, 1, 2)
        single = parameters(model, "plain")
        single["query"] *= np.float32(scale)
        out = {name: np.empty_like(array) for name, array in single.items()}
        batch = contexts.sequences(Stream.TRAINING, 0, 64)
        CompiledEngine(contexts).risk_and_gradient(model, batch, single, out)
        assert not out["query"].any()
        assert not out["key"].any()
        assert out["value"].any()
