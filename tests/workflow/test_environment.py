"""The conda environment has the same pins as the pip one."""

import yaml

from .conftest import ROOT

PIP_NAME = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch"}


def pip_pins() -> dict[str, str]:
    lines = (ROOT / "envs/requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_every_requirement_is_pinned() -> None:
    assert all(version for version in pip_pins().values())


def test_conda_pins_are_the_pip_pins() -> None:
    environment = yaml.safe_load((ROOT / "envs/pipeline.yaml").read_text())
    conda = dict(pin.split("=") for pin in environment["dependencies"])
    del conda["python"]
    assert conda == {name: pip_pins()[PIP_NAME.get(name, name)] for name in conda}
