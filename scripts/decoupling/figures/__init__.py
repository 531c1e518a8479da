"""Figures that the paper does not have: rates, noise and Assumption 1.

Each varies settings of the config: other n, or other σ². A varied setting is like any other to the
rules that make specs, theory, runs and risks. Its name has a dot, which names in the config cannot
have: `rates.fig2c`, `noise.0.5`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .theory import THEOREMS

KINDS = ("rates", "noise", "assumption1")


def kind(block: Mapping[str, Any]) -> str | None:
    """Which study a block of the config's `figures` is; None for panels, pages and the overview."""
    return next((name for name in KINDS if name in block), None)


def bases(block: Mapping[str, Any]) -> list[str]:
    """The settings of the config that a study varies."""
    named = block[kind(block)]
    return [named] if isinstance(named, str) else named


def study_names(config: Mapping[str, Any]) -> list[str]:
    return [name for name, block in (config.get("figures") or {}).items() if kind(block)]


def varied_settings(config: Mapping[str, Any], study: str) -> dict[str, dict[str, Any]]:
    """The settings a study is drawn from, by name, in the order they are drawn in.

    Theorems are of one layer of attention and of four arms, whatever else the base has.
    """
    block = config["figures"][study]
    common = {"n": block["n"], "models": ["attention"], "layers": [1], "arms": list(THEOREMS)}
    if kind(block) != "noise":
        return {f"{study}.{base}": config["settings"][base] | common for base in bases(block)}
    (base,) = bases(block)
    return {
        f"{study}.{noise}": config["settings"][base] | common | {"noise_var": noise}
        for noise in sorted(block["noise_var"])
    }
