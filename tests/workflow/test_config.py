"""Bad input: a line per problem with the key and the fix, exit code, and nothing written."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from .conftest import Project


def _set(*keys: str, to: object) -> Callable[[dict], None]:
    def change(config: dict) -> None:
        for key in keys[:-1]:
            config = config[key]
        config[keys[-1]] = to

    return change


BAD = {
    "unknown key": (_set("colour", to="red"), "unknown key 'colour'"),
    "unknown setting key": (
        _set("settings", "one", "mean", to=1),
        "settings.one: unknown key 'mean'",
    ),
    "lr as text": (
        _set("protocols", "smoke", "one_layer", "lr", to="1e-3"),
        "protocols.smoke.one_layer.lr: '1e-3' was read as text; write 0.001",
    ),
    "indefinite covariance": (
        _set("settings", "one", "covs", to=[1, [[1, 2], [2, 1]]]),
        "settings.one.covs[1]: is not positive definite",
    ),
    "weights": (
        _set("settings", "one", "weights", to=[0.3, 0.6]),
        "settings.one.weights: sum to 0.9; make them sum to 1",
    ),
    "slash in a name": (
        _set("settings", "a/b", to={"d": 1, "weights": [1], "means": [0], "covs": [1], "n": [1]}),
        "the name 'a/b' is not allowed",
    ),
    "dots in a name": (
        _set("figures", "..", to={"setting": "one"}),
        "the name '..' is not allowed",
    ),
    "empty n": (_set("settings", "one", "n", to=[]), "settings.one.n: is empty"),
    "n of zero": (_set("settings", "one", "n", to=[0]), "settings.one.n[0]: 0 is less than"),
    "unknown protocol": (_set("protocol", to="fast"), "protocol: there is no protocol 'fast'"),
    "figure of no setting": (
        _set("figures", "x", to={"setting": "nowhere"}),
        "figures.x.setting: there is no setting 'nowhere'",
    ),
    "arm not trained": (
        _set("figures", "two", to={"arms": ["joint_heads"]}),
        "figures.two.arms: joint_heads is not trained",
    ),
    "reserved name": (
        _set("figures", "scoreboard", to={"setting": "one"}),
        "figures.scoreboard: the name is taken",
    ),
    "overlay on a page": (
        _set("figures", "both", "overlay", to="published"),
        "figures.both.overlay: is for one panel",
    ),
    "overlay in depth": (
        _set("figures", "two", to={"overlay": "published"}),
        "figures.two.overlay: published risks are of one layer",
    ),
    "unknown overlay": (
        _set("figures", "one", to={"overlay": "theirs"}),
        "figures.one.overlay: 'theirs' is not one of",
    ),
    "exact gradient in depth": (
        _set("protocols", "smoke", "deep", "gradient", to="exact"),
        "protocols.smoke.deep.gradient: exact is for one layer",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_problem_is_named_and_nothing_written(project: Project, name: str) -> None:
    change, message = BAD[name]
    config = project.config
    change(config)
    project.write_config(config)
    before = _files(project.path)
    done = project.snakemake(check=False)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert _files(project.path) == before


def test_several_problems_are_told_at_once(project: Project) -> None:
    config = project.config
    config["settings"]["one"]["weights"] = [0.3, 0.6]
    config["settings"]["two"]["n"] = []
    config["protocols"]["smoke"]["one_layer"]["lr"] = "1e-3"
    project.write_config(config)
    stderr = project.snakemake(check=False).stderr
    for path in ("settings.one.weights:", "settings.two.n:", "protocols.smoke.one_layer.lr:"):
        assert sum(line.strip().startswith(path) for line in stderr.splitlines()) == 1, path


def test_unknown_target_is_snakemakes_own_message(project: Project) -> None:
    done = project.snakemake("figures/fig9.pdf", check=False)
    assert done.returncode != 0
    assert "MissingRuleException" in done.stderr


def test_users_own_setting_in_another_file(project: Project, tmp_path: Path) -> None:
    extra = tmp_path / "mine.yaml"
    extra.write_text(
        "settings:\n  mine:\n    {d: 2, weights: [1], means: [[1, 2]], covs: [1], n: [3]}\n"
    )
    project.snakemake("--configfile", str(extra), "--", "figures/mine.pdf")
    assert (project.path / "figures/mine.pdf").exists()


def test_reduced_model_alone_at_one_n(project: Project) -> None:
    """A figure without attention still has its trained curves."""
    config = project.config
    config["settings"]["one"] |= {"models": ["reduced"], "n": [3]}
    config["figures"] = {}
    project.write_config(config)
    project.snakemake("figures/one.pdf")
    risks = pd.read_parquet(project.path / "data/smoke/risks/one.parquet")
    assert set(risks.arm) == {"plain", "finetune", "joint"}


def _files(path: Path) -> set[Path]:
    skipped = {".snakemake", "__pycache__"}
    return {p for p in path.rglob("*") if p.is_file() and skipped.isdisjoint(p.parts)}
