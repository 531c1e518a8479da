"""Arms, an entry each: what it trains, and how figures and the explorer draw it.

Training and theory do not depend on this file: an edit redraws figures and makes tables of results
again. Colours, except brown and grey, are Okabe and Ito's, safe for colour-blind readers.
"""

from __future__ import annotations

from dataclasses import dataclass

from .base import Arm


@dataclass(frozen=True)
class Entry:
    """An arm. `plan.checks` rejects what cannot be drawn, and looks that two arms share."""

    trains: Arm
    label: str  # in legends
    colour: str  # #RRGGBB
    marker: str  # a filled one of Matplotlib, which the explorer has too


ARMS = {  # in the order of legends and tables
    "plain": Entry(
        Arm(weights=True, prompts=False, heads=False),
        label="plain",
        colour="#0072B2",
        marker="o",
    ),
    "zero_prompt": Entry(
        Arm(weights=True, prompts=False, heads=False, zero_prompt=True),
        label="a prompt of zeros",
        colour="#8C6D46",
        marker="h",
    ),
    "shared": Entry(
        Arm(weights=True, prompts=True, heads=False, shared_prompt=True),
        label="one prompt for all tasks",
        colour="#999999",
        marker="p",
    ),
    "finetune": Entry(
        Arm(weights=False, prompts=True, heads=False),
        label="fine-tuned prompts",
        colour="#E69F00",
        marker="s",
    ),
    "joint": Entry(
        Arm(weights=True, prompts=True, heads=False),
        label="joint prompts",
        colour="#009E73",
        marker="^",
    ),
    "joint_heads": Entry(
        Arm(weights=True, prompts=True, heads=True),
        label="joint prompts and heads",
        colour="#D55E00",
        marker="D",
    ),
    "heads": Entry(
        Arm(weights=True, prompts=False, heads=True),
        label="joint heads",
        colour="#CC79A7",
        marker="v",
    ),
    "finetune_heads": Entry(
        Arm(weights=False, prompts=True, heads=True),
        label="fine-tuned prompts and heads",
        colour="#56B4E9",
        marker="P",
    ),
    "finetune_only_heads": Entry(
        Arm(weights=False, prompts=False, heads=True),
        label="fine-tuned heads",
        colour="#000000",
        marker="X",
    ),
}
