"""Arms, an entry each: its trained parts, and its look in figures and the explorer.

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
    "plain": Entry(Arm(weights=True), "plain", "#0072B2", "o"),
    "zero_prompt": Entry(Arm(weights=True, zero_prompt=True), "a prompt of zeros", "#8C6D46", "h"),
    "shared": Entry(
        Arm(weights=True, prompts=True, shared_prompt=True),
        "one prompt for all tasks", "#999999", "p",
    ),
    "finetune": Entry(Arm(prompts=True), "fine-tuned prompts", "#E69F00", "s"),
    "joint": Entry(Arm(weights=True, prompts=True), "joint prompts", "#009E73", "^"),
    "joint_heads": Entry(
        Arm(weights=True, prompts=True, heads=True), "joint prompts and heads", "#D55E00", "D"
    ),
    "heads": Entry(Arm(weights=True, heads=True), "joint heads", "#CC79A7", "v"),
    "finetune_heads": Entry(
        Arm(prompts=True, heads=True), "fine-tuned prompts and heads", "#56B4E9", "P"
    ),
    "finetune_only_heads": Entry(Arm(heads=True), "fine-tuned heads", "#000000", "X"),
}  # fmt: skip
