"""The base of every model, and the parts that an arm trains.

No other file lists the models. Model modules import neither torch nor pandas, because the workflow
reads all of them when it starts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem.scaling import Scaling

ATTENTION_HEADS = {  # the JSON schema of a key that several models have
    "description": "Heads of softmax attention, side by side; 2 is the default",
    "type": "integer",
    "minimum": 1,
    "maximum": 1024,
}
COMPILED = 30e6  # contexts a minute: half the measured pace of three layers of linear attention
Arrays = Mapping[str, np.ndarray]
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Arm:
    """The trained parts: attention weights, prompts, task heads. Without the weights, the others
    are fine-tuned on the frozen weights of the same seed's `plain`."""

    weights: bool = False
    prompts: bool = False
    heads: bool = False
    shared_prompt: bool = False  # one prompt for all tasks
    zero_prompt: bool = False  # a prompt that stays zero

    @property
    def prompted(self) -> bool:
        """Whether there is a prompt in front of the context."""
        return self.prompts or self.zero_prompt


@dataclass(frozen=True)
class Model:
    """A model for K tasks in dimension d, and how its parameters make a prediction.

    Parameters are kept by name, batched over seeds: the model's own weights, `prompts` (p_k) and
    `heads` (h_k), both [seeds, K, D]; a prompt that all tasks share is [seeds, 1, D]. The arm
    decides which of them exist and which are trained. Without `heads`, h = e_D; a model with other
    heads overrides `trained_shapes` and `unsupported`.
    `forward` returns the parameters as an engine needs them; a model that torch differentiates has
    `predict` instead (`engines.sequences`).
    Sizes besides d, K and L are fields of the dataclass, and keys of a setting.
    """

    name: ClassVar[str]  # in the config
    engine: ClassVar[str]  # a module of `engines`, which trains it
    recipe: ClassVar[str]  # its block in a protocol
    references: ClassVar[tuple[str, ...]] = ()  # computed curves that it is compared with
    contains_shallower: ClassVar[bool] = False  # whether one layer fewer is a special case
    task_heads: ClassVar[bool] = True  # whether each task can have a head
    zero_prompt_matters: ClassVar[bool] = False  # whether a prompt of zeros differs from none
    keys: ClassVar[Mapping[str, Any]] = {}  # JSON schemas of its sizes
    # Pace of one seed with all arms on one core, for the time that a job asks for. The default is
    # half the measured pace of a small transformer, so that a new model asks for enough.
    contexts_per_minute: ClassVar[float] = 0.13e6

    dim: int
    tasks: int
    layers: int = 1

    @property
    def weight_shapes(self) -> Shapes:
        """Name and shape (of one seed) of the weights."""
        raise NotImplementedError

    @classmethod
    def supports_depth(cls, layers: int) -> bool:
        """Whether the model exists with so many layers."""
        return layers == 1

    @classmethod
    def exact(cls) -> bool:
        """Whether the model depends on contexts through moments alone. Then gradient and test risk
        can be exact, and seeds share most of the work."""
        return cls.engine == "moments"

    @classmethod
    def has_theorem(cls) -> bool:
        """Whether a theorem predicts its risk; models without one are held to bounds."""
        return "theorem" in cls.references

    @classmethod
    def unsupported(cls, arm: Arm) -> str | None:
        """The reason why the model does not have this arm; or None."""
        if arm.heads and not cls.task_heads:
            return "has no task heads"
        if arm.zero_prompt and not cls.zero_prompt_matters:
            return "treats a prompt of zeros as none"
        return None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Problems of the model's sizes: the setting's key, and a text with the fix."""
        yield from ()

    def contains(self, other: Model) -> str | None:
        """The name of another size of this model, if that is a special case of this one."""
        shallower = {**vars(self), "layers": self.layers - 1}
        if self.contains_shallower and vars(other) == shallower:
            return f"{other.layers} layer{'s' if other.layers > 1 else ''}"
        return None

    def trained_shapes(self, arm: Arm) -> Shapes:
        """Name and shape (of one seed) of the parameters that an arm trains."""
        shapes = dict(self.weight_shapes) if arm.weights else {}
        if arm.prompts:
            shapes["prompts"] = (1 if arm.shared_prompt else self.tasks, self.dim + 1)
        if arm.heads:
            shapes["heads"] = (self.tasks, self.dim + 1)
        return shapes

    def initial_values(self, arm: Arm, seeds: Sequence[int], std: float) -> dict[str, np.ndarray]:
        """Independent N(0, std²) entries, with a random stream per (seed, parameter name).

        So a seed starts the same in every arm, context length and block of seeds.
        Fine-tuned heads start from the head of `plain`, e_D.
        """
        values = {
            name: std * np.stack([_stream(seed, name).standard_normal(shape) for seed in seeds])
            for name, shape in self.trained_shapes(arm).items()
        }
        if arm.heads and not arm.weights:
            values["heads"][:] = np.eye(self.dim + 1)[-1]
        return values

    def fixed_values(self, arm: Arm, seeds: int) -> dict[str, np.ndarray]:
        """The parameters that an arm has and does not train."""
        return {"prompts": np.zeros((seeds, 1, self.dim + 1))} if arm.zero_prompt else {}

    def forward(self, params: Mapping[str, Any]) -> Any:
        """The parameters as the engine needs them; they are NumPy's arrays or torch's."""
        raise NotImplementedError

    def from_standard(self, params: Arrays, scaling: Scaling) -> Arrays:
        """The parameters in the data's units of a model trained in standard units. A model without
        this method is trained in the data's units."""
        raise NotImplementedError

    @classmethod
    def has_standard(cls) -> bool:
        return cls.from_standard is not Model.from_standard

    def backward(self, params: Arrays, grad: Any, out: Arrays) -> None:
        """Write the gradient of the trained parameters to `out`, given the gradient `grad` of what
        `forward` returned. Arrays of `out` are zero where nothing has been written."""
        raise NotImplementedError


def forward_prompts(params: Arrays, tasks: int) -> np.ndarray | None:
    """p_k of the parameters, [seeds, K or 1, D], as [K, seeds, D]."""
    if "prompts" not in params:
        return None
    prompts = params["prompts"].swapaxes(0, 1)
    return np.broadcast_to(prompts, (tasks, *prompts.shape[1:]))


def backward_prompts(by_task: np.ndarray, out: Arrays) -> None:
    """Write the gradient of every task's prompt, [seeds, K, D], to `out`; a shared prompt's is
    their sum."""
    if "prompts" in out:
        common = out["prompts"].shape[1] < by_task.shape[1]
        out["prompts"][:] = by_task.sum(1, keepdims=True) if common else by_task


def _stream(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])
