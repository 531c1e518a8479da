"""Arms: what is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Arm:
    """What is trained: attention weights, prompts, task heads. Without the weights, the rest is
    fine-tuned on the frozen weights of the same seed's `plain`."""

    weights: bool
    prompts: bool
    heads: bool
    common: bool = False  # one prompt for all tasks, not one for each


ARMS = {
    "plain": Arm(weights=True, prompts=False, heads=False),
    "shared": Arm(weights=True, prompts=True, heads=False, common=True),
    "finetune": Arm(weights=False, prompts=True, heads=False),
    "joint": Arm(weights=True, prompts=True, heads=False),
    "joint_heads": Arm(weights=True, prompts=True, heads=True),
    "heads": Arm(weights=True, prompts=False, heads=True),
    "finetune_heads": Arm(weights=False, prompts=True, heads=True),
    "finetune_only_heads": Arm(weights=False, prompts=False, heads=True),
}
