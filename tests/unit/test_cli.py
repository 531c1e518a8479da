"""Scripts' command lines: how a main function's annotations read the arguments."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = '''"""Print the arguments."""

from pathlib import Path
from typing import Annotated, Literal

from decoupling import cli
from decoupling.errors import InputError, TableError


@cli.command
def main(
    first: str, rest: list[int], /,
    held_out: Path, block: dict, curves: list[dict], seeds: tuple[int, int],
    device: Annotated[Literal["cpu", "cuda"], "where to"], files: list[str] = (), fail: str = "",
) -> None:
    if fail == "input":
        raise InputError(["one problem", "another"])
    if fail == "memory":
        raise MemoryError("Unable to allocate 9 GiB")
    if fail == "table":
        raise TableError("a.parquet", "is damaged")
    print(repr([first, rest, held_out, block, curves, seeds, device, files]))
'''
GOOD = ["x", "1", "2", "--held-out", "a/b", "--block", '{"d": 1}', "--curves", '[{"n": 2}]']
GOOD += ["--seeds", "3", "4", "--device", "cpu"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def run(*args: str, name: str = "__main__") -> None:
        (tmp_path / "script.py").write_text(SCRIPT)
        monkeypatch.setattr("sys.argv", ["script.py", *args])
        runpy.run_path(str(tmp_path / "script.py"), run_name=name)

    return run


@pytest.mark.parametrize(
    ("given", "files"), [([], ()), (["--files"], []), (["--files", "a", "b"], ["a", "b"])]
)
def test_arguments_have_their_types(given: list[str], files: object, run, capsys):
    run(*GOOD, *given)
    expected = ["x", [1, 2], Path("a/b"), {"d": 1}, [{"n": 2}], [3, 4], "cpu", files]
    assert capsys.readouterr().out.strip() == repr(expected)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (GOOD[:-2], "the following arguments are required: --device"),
        ([*GOOD[:-1], "tpu"], "invalid choice: 'tpu'"),
        ([*GOOD, "--block", "{"], "invalid loads value: '{'"),
        ([*GOOD, "--seeds", "3"], "expected 2 arguments"),
        (["x", *GOOD[3:]], "required: rest"),
        ([*GOOD, "--fail", "input"], "one problem\nanother"),
        ([*GOOD, "--fail", "memory"], "needed than there is. Unable to allocate 9 GiB"),
        ([*GOOD, "--fail", "table"], "a.parquet: is damaged\nTo make it again: rm a.parquet"),
    ],
)
def test_a_mistake_ends_with_a_message(args: list[str], message: str, run, capsys):
    with pytest.raises(SystemExit) as ended:
        run(*args)
    assert message in f"{ended.value}{capsys.readouterr().err}"


def test_help_and_imports(run, capsys):
    """Help has the texts; an imported script does not run."""
    run(name="imported")
    with pytest.raises(SystemExit):
        run("--help")
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("usage:")
    assert "Print the arguments." in text
    assert "where to" in text
