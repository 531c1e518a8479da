"""A table as a source: what is read of it, how it is split, scaled and drawn from."""

from __future__ import annotations

import json
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from decoupling.problem.feature_moments import FeatureMoments
from decoupling.sources.table import block as table_block
from decoupling.sources.table import random_effects
from decoupling.sources.table.contexts import TableContexts
from decoupling.sources.table.rows import read_units
from decoupling.sources.table.spec import make_spec, read_fold
from decoupling.sources.table.splits import Scale, split
from decoupling.sources.table.tokens import draw
from tables import HEADER, make_rows, write


@pytest.fixture
def block(tmp_path: Path) -> dict:
    return write(tmp_path / "table.csv", make_rows())


def spec_of(block: dict, fold: int = 0, longest: int = 3) -> str:
    return make_spec(f"x.fold{fold}", block | {"fold": fold}, longest)


def test_units_are_rows_of_one_unit_and_group(block: dict):
    units = read_units("settings.x", block, 3)
    assert len(units.kept) == units.total == 12
    assert {(u.group, len(u.y)) for u in units.kept} == {("a", 8), ("b", 8)}
    rows = [row for row in make_rows() if row[0] == "c3"]
    (unit,) = [u for u in units.kept if u.name == "c3"]
    np.testing.assert_allclose(unit.x, [[row[3], row[4]] for row in rows])
    np.testing.assert_allclose(unit.y, [row[5] for row in rows])


def test_a_unit_under_several_tasks_is_a_unit_for_each_in_one_fold(tmp_path: Path):
    """Every class has rows of both kinds; a fold takes all of a class."""
    rows = make_rows() + [[r[0], r[1], "ab"[r[2] == "a"], *r[3:]] for r in make_rows(seed=1)]
    block = write(tmp_path / "table.csv", rows)
    units = read_units("settings.x", block, 3)
    assert len(units.kept) == 24
    for fold in range(3):
        made = split(units.kept, 3, fold)
        assert not {u.name for u in made.training} & {u.name for u in made.held_out}


def test_every_unit_is_held_out_once_with_its_cluster(block: dict):
    units = read_units("settings.x", block | {"fold_by": "school"}, 3)
    held_out = [split(units.kept, 3, fold).held_out for fold in range(3)]
    assert sorted(u.name for part in held_out for u in part) == sorted(u.name for u in units.kept)
    for part in held_out:
        schools = {u.cluster for u in part}
        assert {u.name for u in units.kept if u.cluster in schools} == {u.name for u in part}


@pytest.mark.parametrize("differences", [False, True])
def test_short_units_are_dropped_and_counted(block: dict, tmp_path: Path, differences: bool):
    rows = make_rows()
    gone = [i for i, row in enumerate(rows) if row[0] in ("c0", "c5")]
    short = [row for i, row in enumerate(rows) if i not in (gone[0], gone[8])]
    block = write(tmp_path / "short.csv", short) | {"differences": differences}
    units = read_units("settings.x", block, 3 if differences else 7)
    assert (units.rows_needed, len(units.kept), units.total) == (8, 10, 12)
    spec = json.loads(make_spec("x.fold0", block | {"fold": 0}, 3 if differences else 7))
    assert spec["table"]["units"] == {"kept": 10, "total": 12, "rows": 8}


@pytest.mark.parametrize("differences", [False, True])
def test_scale_is_that_of_the_training_units(block: dict, differences: bool):
    made = split(read_units("settings.x", block, 3).kept, 3, 0)
    scale = Scale.of(made.training, differences)
    scaled = [scale.apply(u) for u in made.training]
    for group in "ab":
        own = [u for u in scaled if u.group == group]
        if differences:
            spread = sum(((u.x - u.x.mean(0)) ** 2).sum(0) for u in own)
            assert spread / sum(len(u.x) - 1 for u in own) == pytest.approx(np.ones(2))
        else:
            assert np.concatenate([u.x for u in own]).std(0) == pytest.approx(np.ones(2))
            assert np.concatenate([u.y for u in own]).std() == pytest.approx(1)
    other = Scale.of([*made.training, *made.held_out], differences)
    assert not np.allclose(other.x_mean, scale.x_mean)  # so that the test would see a leak
    again = Scale.from_dict(json.loads(json.dumps(scale.to_dict())))
    np.testing.assert_array_equal(again.apply(made.held_out[0]).x, scale.apply(made.held_out[0]).x)


def test_held_out_rows_change_nothing_of_a_spec(tmp_path: Path):
    """But for the names of the units, which stay."""
    block = write(tmp_path / "table.csv", make_rows())
    made = split(read_units("settings.x", block, 3).kept, 3, 0)
    held_out = {u.name for u in made.held_out}
    rows = [[*row[:5], row[5] + 7 if row[0] in held_out else row[5]] for row in make_rows()]
    changed = write(tmp_path / "changed.csv", rows)
    assert spec_of(block) == spec_of(changed)
    assert spec_of(block, 1) != spec_of(changed, 1)


@pytest.mark.parametrize("differences", [False, True])
def test_contexts_are_different_rows_of_one_unit(block: dict, differences: bool):
    units = read_units("settings.x", block, 3).kept
    drawn = draw(np.random.default_rng(0), units, "ab", 3, 20, False, differences)
    assert drawn.x.shape == (240, 4, 2)
    for x, y, place, task in zip(drawn.x, drawn.y, drawn.unit, drawn.task, strict=True):
        unit = units[place]
        assert unit.group == "ab"[task]
        rows = np.column_stack([unit.x, unit.y])
        if differences:
            pairs = (rows[:, None] - rows) / 2**0.5
            rows = pairs[~np.eye(len(rows), dtype=bool)]
        gaps = np.abs(np.column_stack([x, y])[:, None] - rows).max(-1)
        assert (gaps.min(1) < 1e-12).all()
        assert len(set(gaps.argmin(1))) == 4


def test_spec_is_a_mixture_with_measured_moments(block: dict):
    fields = json.loads(spec_of(block))
    assert (fields["d"], fields["K"]) == (2, 2)
    assert fields["weights"] == [0.5, 0.5]
    assert all((np.linalg.eigvalsh(cov) > 0).all() for cov in fields["covs"])
    moments = FeatureMoments.from_dict(fields["table"]["design"])
    np.testing.assert_allclose(moments.sigma_x, fields["sigma_x"], atol=0.1)
    assert len(fields["table"]["training"]) == 8


def test_effects_that_have_not_converged_are_warned_of(block: dict, monkeypatch, caplog):
    monkeypatch.setattr(random_effects, "MOST_STEPS", 3)
    spec_of(block)
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert warning.getMessage() == "x.fold0: REML has not converged in 3 steps"


def test_same_file_gives_the_same_contexts(block: dict):
    text = spec_of(block)
    one, other = (read_fold(text, block["table"]).training_contexts(2) for _ in range(2))
    np.testing.assert_array_equal(one.x, other.x)
    assert not np.array_equal(one.x[:, :3], read_fold(text, block["table"]).training_contexts(3).x)


def test_batches_are_of_the_training_contexts(block: dict):
    contexts = TableContexts.read(spec_of(block), 2, block["table"])
    exact, batch = contexts.moments(), contexts.batch_moments(1, 0, 200_000, 1.0)
    assert batch.power == pytest.approx(exact.power, rel=0.02)
    again = contexts.batch_moments(1, 0, 200_000, 1.0)
    np.testing.assert_array_equal(batch.second, again.second)


def test_a_batch_may_lack_a_task(block: dict):
    """Whose moments are 0."""
    moments = TableContexts.read(spec_of(block), 2, block["table"]).batch_moments(1, 0, 1, 1.0)
    assert sorted(moments.square.any((1, 2))) == [False, True]


def test_intercept_is_the_first_feature(block: dict):
    fold = read_fold(spec_of(block | {"intercept": True}), block["table"])
    assert fold.mix.dim == 3
    assert (fold.held_out_contexts(2).x[..., 0] == 1).all()


@pytest.mark.parametrize("label", ["none", "NA", "."])
def test_a_label_may_be_called_what_a_missing_number_is(tmp_path: Path, label: str):
    rows = [[*row[:2], label if row[2] == "a" else "b", *row[3:]] for row in make_rows()]
    block = write(tmp_path / "table.csv", rows)
    assert table_block.problems("x", block, [1, 3]) == []
    assert read_units("settings.x", block, 3).groups == sorted([label, "b"])


@pytest.mark.parametrize("bad", [["c0"], ["c0", "s0", "a", "", 0, 1], ["c0", "s0", "a", "z", 0, 1]])
def test_blank_lines_count_as_lines(block: dict, bad: list):
    """As a text editor counts."""
    rows = make_rows()
    write(Path(block["table"]), [[], *rows[:2], [], bad, *rows[2:]])
    (problem,) = table_block.problems("x", block, [1, 3])
    assert "line 6" in problem


def changed(change) -> dict:
    """Rows after a change of theirs."""
    rows = make_rows()
    change(rows)
    return {"rows": rows}


def put(line: int, column: str, value: object):
    def change(rows: list) -> None:
        rows[line - 2][HEADER.index(column)] = value

    return change


def tie_in_a_group(rows: list) -> None:
    for row in rows:
        row[4] = 2 * row[3] + 1 if row[2] == "a" else row[4]


BAD = {
    "no file": ({"table": "no.csv"}, "table: there is no file no.csv; give the path of a CSV"),
    "no such feature": (
        {"features": ["u", "w"]},
        "features: the table has no column 'w'; it has class, school, kind, u, v, y",
    ),
    "no such unit": ({"unit": "room"}, "unit: the table has no column 'room'; it has"),
    "no such group": ({"group": "sort"}, "group: the table has no column 'sort'; it has"),
    "no such target": ({"target": "z"}, "target: the table has no column 'z'; it has"),
    "no such fold": ({"fold_by": "town"}, "fold_by: the table has no column 'town'; it has"),
    "target as feature": ({"features": ["u", "y"]}, "target: 'y' is among the features; remove"),
    "text": (
        changed(put(5, "u", "tall")),
        "features: 'tall' in column u, line 5, is not a number; write numbers, or leave",
    ),
    "no value": (
        changed(put(4, "v", "")),
        "features: column v is empty in line 4; fill it in, or leave the row out",
    ),
    "NA": (changed(put(4, "y", "NA")), "target: column y is empty in line 4; fill it in, or"),
    "infinite": (changed(put(4, "y", "inf")), "target: 'inf' in column y, line 4, is not a number"),
    "nameless unit": (changed(put(4, "class", " ")), "unit: column class is empty in line 4"),
    "short line": (
        changed(lambda rows: rows[2].pop()),
        "table: line 4 of {file} has 5 entries for 6 columns; make them as many",
    ),
    "constant": (
        changed(lambda rows: [row.__setitem__(3, 5) for row in rows]),
        "features: 'u' is constant; remove it",
    ),
    **{
        f"{what} of the size {size}": (
            changed(
                lambda rows, c=column, s=size: [row.__setitem__(c, s * row[c]) for row in rows]
            ),
            f"{key}: column {what} has entries of the size of ",
        )
        for size in (1e-310, 1e-200, 1e160, 1e300)
        for key, what, column in (("features", "u", 3), ("target", "y", 5))
    },
    "brace": (
        {"table": "t{unit}.csv"},
        "table: t{{unit}}.csv has a brace in its name, which Snakemake takes for a wildcard's; re",
    ),
    "constant in units": (
        {
            "differences": True,
            **changed(lambda rows: [row.__setitem__(3, int(row[0][1:])) for row in rows]),
        },
        "features: 'u' does not vary within units; remove it",
    ),
    "constant in a group": (
        changed(lambda rows: [row.__setitem__(3, 5) for row in rows if row[2] == "a"]),
        "features: 'u' does not vary in the training units of group 'a'; remove it",
    ),
    "constant in a group beside an enormous entry": (
        changed(put(2, "u", 1e80)),
        "features: 'u' varies by 2e+00 in the training units of group 'b', which is lost beside "
        "entries of the size of 1e+80; remove it",
    ),
    "large beside its range": (
        changed(lambda rows: [row.__setitem__(3, 1e15 + i) for i, row in enumerate(rows)]),
        "features: 'u' varies by 1e+02, which is lost beside entries of the size of 1e+15; remove",
    ),
    "target in other units by group": (
        changed(lambda rows: [row.__setitem__(5, 1e60 * row[5]) for row in rows if row[2] == "a"]),
        "target: 'y' varies by 6e+00 in the training units of group 'b', which is lost beside ent",
    ),
    "target constant in units": (  # 0.1 less the mean of ten of these is not 0
        {
            "differences": True,
            **changed(lambda rows: [row.__setitem__(5, 0.1 * int(row[0][1:])) for row in rows]),
        },
        "target: 'y' does not vary within units; name another",
    ),
    "target constant in a group": (
        changed(lambda rows: [row.__setitem__(5, 5) for row in rows if row[2] == "a"]),
        "target: 'y' does not vary in the training units of group 'a'; name another",
    ),
    "target without noise": (
        {"intercept": True, **changed(lambda rows: [row.__setitem__(5, row[3]) for row in rows])},
        "target: 'y' is a linear function of the features, the same in all units of a group; name",
    ),
    "dependent": (
        changed(lambda rows: [row.__setitem__(4, 2 * row[3] + 1) for row in rows]),
        "features: are linearly dependent; remove one",
    ),
    "dependent in a group": (
        {"intercept": True, **changed(tie_in_a_group)},
        "features: are linearly dependent in the training units of group 'a'; remove one",
    ),
    "dependent in a group's units": (
        {"differences": True, **changed(tie_in_a_group)},
        "features: are linearly dependent in the training units of group 'a'; remove one",
    ),
    "constant target": (
        changed(lambda rows: [row.__setitem__(5, 3) for row in rows]),
        "target: 'y' is constant; name another",
    ),
    "one unit in a group": (
        changed(lambda rows: [row.__setitem__(2, "c") for row in rows if row[0] == "c0"]),
        "group: 'c' has 1 unit with 4 rows; use shorter contexts, or leave its rows out",
    ),
    "unit in two folds": (
        changed(put(2, "school", "s9")),
        "fold_by: unit 'c0' is in 's0' and in 's9'; name a column that is one value in a unit",
    ),
    "long contexts": (
        {"n": [8]},
        "n: no unit has the 9 rows that n = 8 needs; the largest has 8; use shorter contexts",
    ),
    "long contexts of differences": (
        {"n": [4], "differences": True},
        "n: no unit has the 10 rows that n = 4 needs; the largest has 8; use shorter contexts",
    ),
    "many folds": ({"folds": 13}, "folds: is 13, but the column class has 12 values; use fewer"),
    "one fold": ({"folds": 1}, "folds: is 1; use 2 or more"),
    "few units left": (
        {"folds": 2, "rows": make_rows(4), "fold_by": "school"},
        "folds: without fold 0, fewer than 2 units of 'a' are left to train on; use more folds",
    ),
    "intercept of differences": (
        {"intercept": True, "differences": True},
        "intercept: differences of rows have none; set one of them to false",
    ),
    "empty": ({"rows": []}, "table: {file} has no rows below its column names; add some"),
    "two columns of a name": (
        {"header": [*HEADER[:3], "u", "u", "y"], "features": ["u"]},
        "table: {file} has two columns 'u'; rename one",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_line_says_what_and_where(name: str, tmp_path: Path):
    changes, message = BAD[name]
    file = tmp_path / "table.csv"
    block = write(file, changes.get("rows", make_rows()), changes.get("header", HEADER))
    block |= {"fold_by": "school"} if name == "unit in two folds" else {}
    own = {k: v for k, v in changes.items() if k not in ("rows", "header", "n")}
    with warnings.catch_warnings(action="error"):
        (line,) = table_block.problems("x", block | own, changes.get("n", [1, 3]))
    assert line.startswith(f"settings.x.{message.format(file=file)}")
    assert "\n" not in line


def test_a_table_that_a_rule_makes_need_not_be_there(block: dict, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert table_block.problems("x", block | {"table": "data/tables/bdf.csv"}, [1]) == []


def test_the_script_makes_the_tables_that_the_rule_names():
    script = Path(__file__).parents[2] / "scripts/table.py"
    assert set(runpy.run_path(str(script))["TABLES"]) == set(table_block.MADE)
