"""Where a figure comes from: what its `.json` says, and that no commit is in its own files."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from configs import read
from decoupling.figures import provenance, style
from decoupling.plan import drawing as planned

RECIPE = {"batch_size": 8, "iterations": 1, "lr": 0.1}
CONFIG = {
    "protocol": "p",
    "protocols": {
        "p": {"seeds": 3, "seeds_per_job": 3, "deep": RECIPE}
        | {"one_layer": RECIPE | {"arms": {"joint": {"lr": 0.2}}}},
    },
    "settings": {
        "one": {"d": 2, "weights": [1], "means": [1], "covs": [1], "n": [3]},
    },
    "figures": {"rates": {"kind": "rates", "setting": "one", "n": [1, 2]}},
}


def git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *own, *arguments], check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a source, and a file that is none."""
    made = tmp_path / "clone"
    (made / "scripts").mkdir(parents=True)
    (made / "scripts/a.py").write_text("1")
    git(tmp_path, "init", "-q", str(made))
    git(made, "add", "scripts")
    git(made, "commit", "-qm", "first")
    (made / "notes").write_text("not a source")
    return made


def test_commit_and_whether_sources_are_as_committed(clone: Path):
    found = provenance.commit(clone)
    head = subprocess.run(
        ["git", "-C", clone, "rev-parse", "HEAD"], capture_output=True, text=True
    ).stdout
    assert found == {"commit": head.strip(), "clean": True}
    (clone / "scripts/b.py").write_text("an import would find it")
    assert provenance.commit(clone) == {**found, "clean": False}


@pytest.mark.parametrize("where", ["no repository", "in another's", "no git", "no commit"])
def test_a_clone_without_git_has_no_commit(
    where: str, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = {"no repository": tmp_path, "in another's": clone / "scripts", "no git": clone}
    if where == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    elif where == "no commit":
        git(tmp_path, "init", "-q", "empty")
    found = provenance.commit(place.get(where, tmp_path / "empty"))
    assert found == {"commit": None, "clean": None}


def test_what_a_figures_file_says(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(provenance.COMMAND, "snakemake --config protocol=p")
    table = tmp_path / "risks.parquet"
    table.write_bytes(b"numbers")
    about = json.loads(planned.told(read(CONFIG), "one"))["about"]
    path = tmp_path / "one.json"
    provenance.write(path, about, "abc", [table, clone / "scripts/a.py"], clone)
    said = json.loads(path.read_text())
    assert said["command"] == f"snakemake --config protocol=p -- {tmp_path}/one.pdf"
    assert said["code"]["digest"] == "abc"
    assert said["code"]["clean"] is True
    assert said["inputs"] == {
        str(table): hashlib.sha256(b"numbers").hexdigest(),
        "scripts/a.py": hashlib.sha256(b"1").hexdigest(),
    }
    assert {"python", "numpy", "matplotlib"} < set(said["versions"])
    assert {key: said[key] for key in about} == about  # in lines that are easy to read
    assert '"n": [3],' in path.read_text()


def test_settings_and_recipes_as_used():
    config = read(CONFIG)
    said = json.loads(planned.told(config, "one"))["about"]
    assert (said["kind"], said["protocol"], said["results"]) == ("panel", "p", "trained")
    assert said["settings"]["one"] == CONFIG["settings"]["one"] | {
        "source": "gaussian", "models": ["attention"], "layers": [1],
        "cov_base": None, "noise_var": 0.0,
        "arms": ["plain", "finetune", "joint", "joint_heads"],
    }  # fmt: skip
    assert [(r["lr"], r["seeds"], len(r["curves"])) for r in said["recipes"]] == [
        (0.1, 3, 3),
        (0.2, 3, 1),
    ]
    computed = json.loads(planned.told(config, "rates"))["about"]
    assert (computed["results"], computed["recipes"]) == ("computed", [])
    assert computed["settings"]["rates.one"]["n"] == [1, 2]


def test_the_command_names_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    own = planned.command(tmp_path / "Snakefile", [], {"protocol": "smoke"})
    assert own == "snakemake --config protocol=smoke"
    files = [tmp_path / "a b.yaml"]
    elsewhere = planned.command(tmp_path.parent / "clone/Snakefile", files, {"n": [1, 2]})
    said = "snakemake --snakefile ../clone/Snakefile --configfile 'a b.yaml' --config 'n=[1, 2]'"
    assert elsewhere == said


def test_the_files_have_the_codes_digest_and_no_date(tmp_path: Path):
    def made(name: str, code: str) -> list[bytes]:
        figure, body = style.framed(*style.PANEL_SIZE, [], "note")
        body.subplots()
        pdf, png = tmp_path / f"{name}.pdf", tmp_path / f"{name}.png"
        style.save(figure, pdf, png, code)
        return [pdf.read_bytes(), png.read_bytes()]

    style.use_style()
    first, again, other = made("a", "c0de"), made("b", "c0de"), made("c", "0ther")
    assert first == again
    assert all(b"code c0de" in file for file in first)
    assert all(b"code 0ther" in file for file in other)
