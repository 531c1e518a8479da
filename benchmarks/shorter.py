"""The option `--share`, by which a benchmark trains only to see that it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace

from decoupling.train.recipe import Recipe


def add_share(parser: ArgumentParser) -> None:
    help_text = "of the iterations and held-out contexts of every recipe; 0 for the least"
    parser.add_argument("--share", type=float, default=1.0, help=help_text)


def shorter(recipe: Recipe, share: float) -> Recipe:
    return replace(
        recipe,
        iterations=max(1, round(share * recipe.iterations)),
        test_contexts=max(2, round(share * recipe.test_contexts)),
    )
