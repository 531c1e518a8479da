"""Bad input: a line per problem with the key and the fix, exit code, and nothing written. What is
said of each mistake is tested in tests/unit/test_checks.py."""

from pathlib import Path

import pandas as pd

from .conftest import Project


def test_problems_are_named_and_nothing_is_written(project: Project) -> None:
    config = project.config
    config["colour"] = "red"
    config["settings"]["one"]["weights"] = [0.3, 0.6]
    config["settings"]["two"]["n"] = []
    config["settings"]["a/b"] = config["settings"]["one"]
    config["figures"]["both"]["overlay"] = "published"
    config["protocols"]["smoke"]["one_layer"]["lr"] = "1e-3"
    project.write_config(config)
    before = _files(project.path)
    done = project.snakemake(check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    lines = [line.strip() for line in done.stderr.splitlines()]
    for start in (
        "config: unknown key 'colour'",
        "settings.one.weights: sum to 0.9; make them sum to 1",
        "settings.two.n: is empty",
        "settings: the name 'a/b' is not allowed",
        "figures.both.overlay: is for kind panel",
        "protocols.smoke.one_layer.lr: '1e-3' was read as text; write 0.001",
    ):
        assert sum(line.startswith(start) for line in lines) == 1, start
    assert _files(project.path) == before


def test_names_that_point_nowhere(project: Project) -> None:
    before = _files(project.path)
    done = project.snakemake("--config", "protocol=fast", check=False)
    assert done.returncode != 0
    assert "protocol: there is no protocol 'fast'" in done.stderr
    assert "Traceback" not in done.stderr
    done = project.snakemake("figures/fig9.pdf", check=False)
    assert done.returncode != 0
    assert "MissingRuleException" in done.stderr  # Snakemake's own message
    assert _files(project.path) == before


def test_users_own_setting_in_another_file(project: Project, tmp_path: Path) -> None:
    """Of the reduced model alone, at one n: a figure without attention has its trained curves."""
    extra = tmp_path / "mine.yaml"
    extra.write_text(
        "settings:\n  mine:\n    {d: 2, weights: [1], means: [[1, 2]], covs: [1], n: [3],"
        " models: [reduced]}\n"
    )
    project.snakemake("--configfile", str(extra), "--", "figures/mine.pdf")
    risks = pd.read_parquet(project.path / "data/smoke/risks/mine.parquet")
    assert set(risks.arm) == {"plain", "finetune", "joint"}


def _files(path: Path) -> set[Path]:
    skipped = {".snakemake", "__pycache__"}
    return {p for p in path.rglob("*") if p.is_file() and skipped.isdisjoint(p.parts)}
