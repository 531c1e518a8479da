"""The Parquet tables: columns, bytes, atomic writes, messages."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from decoupling.errors import TableError
from decoupling.files import atomic_path
from decoupling.tables import (
    BAYES,
    BOUNDS,
    PARAMETERS,
    RISKS,
    RUNS,
    THEORY,
    read_all,
    read_table,
    write_table,
)

KEY = "setting n model layers arm"
COLUMNS = {  # schema, names
    "runs": (
        RUNS,
        f"{KEY} seed risk risk_se iterations status selection_risk tail_share descent_left",
    ),
    "risks": (
        RISKS,
        f"{KEY} risk risk_se normalized best_seed median seeds_ok seeds_total normalized_se"
        " tail_share seeds_stopped descent_left",
    ),
    "parameters": (PARAMETERS, f"{KEY} seed name shape values"),
    "bounds": (BOUNDS, f"{KEY} bound excess excess_se holds"),
    "theory": (THEORY, "setting n curve arm risk normalized"),
    "bayes": (BAYES, "setting n risk risk_se normalized normalized_se"),
}
BY_TYPE = {
    pa.string(): ["fig2a", "µ"],
    pa.int64(): [1, 2**40],
    pa.float64(): [0.1, float("nan")],
    pa.bool_(): [True, False],
    pa.list_(pa.int64()): [[1, 2], [3]],
    pa.list_(pa.float64()): [[0.5, 1.5], [2.5]],
}


def example(schema: pa.Schema) -> pd.DataFrame:
    return pd.DataFrame({field.name: BY_TYPE[field.type] for field in schema})


def write(path: Path, rows: pd.DataFrame, schema: pa.Schema, *metadata) -> None:
    write_table(path, rows.to_dict("records"), schema, *metadata)


@pytest.mark.parametrize(("schema", "columns"), COLUMNS.values(), ids=COLUMNS)
def test_columns_and_round_trip(schema: pa.Schema, columns: str, tmp_path):
    """Also where the rows come with more columns, in another order."""
    assert schema.names == columns.split()
    rows = example(schema)
    shuffled = rows[schema.names[::-1]].assign(extra=0)
    write(tmp_path / "sub" / "t.parquet", shuffled, schema)
    pd.testing.assert_frame_equal(read_table(tmp_path / "sub" / "t.parquet", schema), rows)


def test_same_rows_same_bytes(tmp_path):
    rows, metadata = example(RUNS), {"protocol": "paper"}
    for name in ("a", "b"):
        write(tmp_path / name, rows, RUNS, metadata)
    write(tmp_path / "c", rows.assign(risk=np.nextafter(rows.risk, 9)), RUNS, metadata)
    write(tmp_path / "d", rows, RUNS, {"protocol": "smoke"})
    a, b, c, d = ((tmp_path / name).read_bytes() for name in "abcd")
    assert a == b
    assert len({a, c, d}) == 3


def test_metadata_is_in_the_file(tmp_path):
    write(tmp_path / "t.parquet", example(RUNS), RUNS, {"protocol": "paper"})
    assert pq.read_schema(tmp_path / "t.parquet").metadata == {b"protocol": b"paper"}


def test_atomic_path_takes_the_place(tmp_path):
    target = tmp_path / "deep" / "file.txt"
    with atomic_path(target) as temporary:
        assert temporary.parent == target.parent
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600


def test_failed_write_leaves_what_was_there(tmp_path):
    target = tmp_path / "file.txt"
    target.write_text("old")

    def fail() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_next_write_removes_what_a_killed_one_left(tmp_path):
    target = tmp_path / "file.txt"
    killed = atomic_path(target)
    killed.__enter__()  # and never leaves
    assert len(list(tmp_path.iterdir())) == 1
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_failed_table_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(pq, "write_table", lambda *args: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write(tmp_path / "t.parquet", example(RUNS), RUNS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["missing", "empty", "text", "truncated", "flipped"])
def test_unreadable_table_names_the_file(damage: str, tmp_path):
    path = tmp_path / "t.parquet"
    write(path, example(RUNS), RUNS)
    whole = path.read_bytes()
    flipped = whole[:4] + bytes(byte ^ 0xFF for byte in whole[4:60]) + whole[60:]
    damaged = {"empty": b"", "text": b"risk\n1\n", "truncated": whole[:-20], "flipped": flipped}
    path.unlink()
    if damage in damaged:
        path.write_bytes(damaged[damage])
    with pytest.raises(TableError) as caught:
        read_table(path, RUNS)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: not a readable Parquet file")


def test_table_with_a_column_missing_names_both(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, example(THEORY), THEORY)
    with pytest.raises(TableError) as caught:
        read_table(path, RUNS)
    assert str(caught.value).startswith(f"{path}: has no column")
    assert "seed" in str(caught.value)


def test_several_tables_are_read_as_one(tmp_path):
    rows = example(RUNS)
    paths = [tmp_path / "a", tmp_path / "b"]
    write(paths[0], rows, RUNS, {"protocol": "paper"})
    write(paths[1], rows.assign(extra=0)[::-1], RUNS)
    expected = pd.concat([rows, rows[::-1]], ignore_index=True)
    pd.testing.assert_frame_equal(read_all(paths, RUNS), expected)


def test_no_tables_no_rows_but_columns():
    found = read_all([], RUNS)
    assert found.empty
    assert list(found.columns) == RUNS.names


def test_the_unreadable_one_of_several_is_named(tmp_path):
    write(tmp_path / "good", example(RUNS), RUNS)
    write(tmp_path / "other", example(THEORY), THEORY)
    with pytest.raises(TableError) as caught:
        read_all([tmp_path / "good", tmp_path / "other"], RUNS)
    assert caught.value.path == tmp_path / "other"
