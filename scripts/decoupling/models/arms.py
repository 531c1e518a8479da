"""Arms: what is trained. A run carries its own, so that a new one here retrains nothing."""

from __future__ import annotations

from . import Arm

ARMS = {
    "plain": Arm(weights=True, prompts=False, heads=False),
    "shared": Arm(weights=True, prompts=True, heads=False, common=True),
    "finetune": Arm(weights=False, prompts=True, heads=False),
    "joint": Arm(weights=True, prompts=True, heads=False),
    "joint_heads": Arm(weights=True, prompts=True, heads=True),
    "zero_prompt": Arm(weights=True, prompts=False, heads=False, zero_prompt=True),
    "heads": Arm(weights=True, prompts=False, heads=True),
    "finetune_heads": Arm(weights=False, prompts=True, heads=True),
    "finetune_only_heads": Arm(weights=False, prompts=False, heads=True),
}
