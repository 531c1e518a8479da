"""Specs: what a setting's numbers are, and which files it is made of."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ... import sources
from ...problem.mixture import TaskMixture
from ..config import Config, Setting


def canonical_json(value: Any) -> str:
    """One text for one value: recorded as a parameter, it changes only if the value does."""
    return json.dumps(value, sort_keys=True)


@cache
def spec_text(setting: Setting) -> str:
    """The content of a setting's spec."""
    return mixture(setting).to_json()


@cache
def mixture(setting: Setting) -> TaskMixture:
    return sources.blocks()[setting.source].make_spec(setting.name, setting.block)


@cache
def fingerprint(setting: Setting) -> str:
    return mixture(setting).fingerprint


def source_files(setting: Setting) -> list[str]:
    """Files that its contexts are drawn from."""
    files = getattr(sources.blocks()[setting.source], "files", None)
    return files(setting.block) if files else []


def mixtures(config: Config) -> list[str]:
    """The settings whose spec the config alone makes."""
    return [
        name
        for name, made in config.settings.items()
        if hasattr(sources.blocks()[made.source], "make_spec")
    ]
