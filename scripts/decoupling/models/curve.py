"""A trained curve: an arm of a model in a setting, against n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import load
from .base import Arm, Model


@dataclass(frozen=True)
class Curve:
    """A curve that is trained, evaluated or drawn. Jobs get it as JSON."""

    setting: str
    module: str  # of this folder
    model: str  # the name in the config and in tables
    layers: int
    arm: str
    trains: Arm  # no job looks the arm up, so that a new arm retrains nothing
    sizes: tuple[tuple[str, int], ...] = ()  # of the model, by name
    recipe: str | None = None  # its source's, for protocols that have it

    @property
    def model_class(self) -> type[Model]:
        return load(self.module)

    @property
    def point(self) -> dict[str, Any]:
        """Columns that identify it in tables."""
        return {key: getattr(self, key) for key in ("setting", "model", "layers", "arm")}

    def build(self, dim: int = 1, tasks: int = 1) -> Model:
        """The model. The default sizes are enough to ask what it contains."""
        return self.model_class(dim, tasks, self.layers, **dict(self.sizes))

    def includes(self, other: Curve) -> str | None:
        """The name of the other curve as a bound, if this one's least risk cannot be larger."""
        if self.model != other.model:
            return None
        own = self.build()
        if (self.setting, own) == (other.setting, other.build()):
            return (
                other.arm if _includes(self.trains, other.trains, own.zero_prompt_matters) else None
            )
        return self.includes_smaller(other)

    def includes_smaller(self, other: Curve) -> str | None:
        """The name of the same arm of a smaller model, if that is a special case of this one. Not
        for fine-tuned arms, whose weights are frozen."""
        same = (self.model, self.arm) == (other.model, other.arm) and self.trains.weights
        return self.build().contains(other.build()) if same else None

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Curve:
        """The curve that `asdict` described, through JSON."""
        sizes = tuple((name, size) for name, size in fields["sizes"])
        return cls(**{**fields, "trains": Arm(**fields["trains"]), "sizes": sizes})


def _includes(arm: Arm, other: Arm, zero_prompt_matters: bool) -> bool:
    """Whether the second arm is a special case of the first."""
    own_prompts = arm.prompts and not arm.shared_prompt
    return (
        arm != other
        and arm.weights >= other.weights
        and arm.heads >= other.heads
        and (own_prompts or not other.prompts or (arm.shared_prompt and other.shared_prompt))
        and (not zero_prompt_matters or arm.prompted == other.prompted)
    )
