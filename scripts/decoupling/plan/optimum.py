"""The computed curve that is a model's optimum, and what to do where seeds stay above it."""

from __future__ import annotations

from ..config import Config
from ..figures import Figure


def curves(figure: Figure, config: Config) -> dict[str, str]:
    """The computed curve that no seed of a model can be below, by model, where there is one."""
    found = {curve.model: curve.model_class.references for curve in figure.curves(config)}
    return {
        model: "optimum" if "optimum" in references else "theorem"
        for model, references in found.items()
        if "theorem" in references
    }


def remedy(figure: Figure, config: Config) -> str:
    """What to do, in the config's words."""
    trained = [c for c in figure.curves(config) if c.model_class.has_theorem()]
    names = sorted({config.protocol.recipe_of(curve) for curve in trained})
    blocks = " and ".join(f"protocols.{config.protocol.name}.{name}" for name in names)
    return f"try more iterations or seeds in {blocks}, or standard_units, means_warmup and a cosine"
