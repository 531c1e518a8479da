"""From a setting's block in the config to its spec, or to a list of problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...problem.mixture import TaskMixture
from ...validation import Problems, is_finite, is_integer, is_number, number_as_text

WEIGHT_SUM_TOLERANCE = 1e-9
SYMMETRY_TOLERANCE = 1e-10

ENGINES = ("gram", "moments", "sequences", "softmax")
PROPERTIES = {  # JSON schemas of the keys; matrices and vectors are checked below
    "d": {"description": "Dimension of x", "type": "integer", "minimum": 1, "maximum": 200},
    "weights": {"description": "Task probabilities", "type": "array", "minItems": 1},
    "means": {
        "description": "Task means; a number c is c·1, a list of d numbers the vector",
        "type": "array",
        "minItems": 1,
    },
    "covs": {
        "description": "Task covariances; a number c is c·cov_base, a d×d list the matrix",
        "type": "array",
        "minItems": 1,
    },
    "cov_base": {
        "description": "What numbers in covs multiply; identity, d diagonal entries or a d×d list"
    },
    "sigma_x": {"description": "Covariance of x; identity, d diagonal entries or a d×d list"},
    "noise_var": {"description": "Variance of the label noise", "type": "number", "minimum": 0},
}
REQUIRED = ("d", "weights", "means", "covs")


def shape(block: Mapping[str, Any]) -> tuple[int, int]:
    """(d, K)."""
    return block["d"], len(block["weights"])


def make_spec(name: str, block: Mapping[str, Any]) -> TaskMixture:
    """Expand a block of the config's `settings`, or raise InputError with every problem in it.

    A number c among `means` is c·1 and among `covs` c·`cov_base`; lists are taken as they are.
    """
    return _Expander(f"settings.{name}", block).mixture(name)


class _Expander:
    """Expands one block and collects its problems."""

    def __init__(self, path: str, block: Mapping[str, Any]) -> None:
        self.block = block
        self.problems = Problems(path)

    def mixture(self, name: str) -> TaskMixture:
        dim = self.block["d"]
        if not is_integer(dim) or dim < 1:
            self.problems.add("d", f"is {dim!r}; give a whole number, 1 or more")
            self.problems.stop()
        weights = self._weights()
        means = [
            self._vector(f"means[{k}]", value, dim) for k, value in enumerate(self.block["means"])
        ]
        base = self._matrix("cov_base", self.block.get("cov_base", "identity"), dim)
        covs = [
            self._cov(f"covs[{k}]", value, base, dim) for k, value in enumerate(self.block["covs"])
        ]
        sigma_x = self._matrix("sigma_x", self.block.get("sigma_x", "identity"), dim)
        noise_var = self._noise()
        for key in ("means", "covs"):
            if len(self.block[key]) != len(self.block["weights"]):
                self.problems.add(
                    key,
                    f"has {len(self.block[key])} entries for {len(self.block['weights'])} weights; "
                    "give one per task",
                )
        self.problems.stop()
        return TaskMixture(name, weights, np.array(means), np.array(covs), sigma_x, noise_var)

    def _no_number(self, key: str, value: Any) -> bool:
        """Whether a value has a text or a truth value, which NumPy would read as a number."""
        if isinstance(value, list):
            return any(self._no_number(key, entry) for entry in value)
        if isinstance(value, bool):
            hint = f"has {str(value).lower()} where a number belongs; give a number"
        else:
            hint = number_as_text(value)
        if hint:
            self.problems.add(key, hint)
        return bool(hint)

    def _array(self, key: str, value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
        if self._no_number(key, value):
            return None
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            self.problems.add(key, f"is not all numbers; give {_shape_words(shape)}")
            return None
        if array.shape != shape:
            self.problems.add(key, f"has shape {array.shape}; give {_shape_words(shape)}")
        elif not np.isfinite(array).all():
            self.problems.add(key, "has a NaN or infinite entry; give finite numbers")
        else:
            return array
        return None

    def _weights(self) -> np.ndarray | None:
        weights = self._array("weights", self.block["weights"], (len(self.block["weights"]),))
        if weights is None:
            return None
        if weights.size == 0:
            self.problems.add("weights", "is empty; give one positive weight per task")
        elif (weights <= 0).any():
            self.problems.add("weights", "has an entry that is not positive; drop that task")
        elif abs(weights.sum() - 1) > WEIGHT_SUM_TOLERANCE:
            self.problems.add("weights", f"sum to {weights.sum():.6g}; make them sum to 1")
        return weights

    def _vector(self, key: str, value: Any, dim: int) -> np.ndarray | None:
        if is_number(value):
            value = [value] * dim
        return self._array(key, value, (dim,))

    def _cov(self, key: str, value: Any, base: np.ndarray | None, dim: int) -> np.ndarray | None:
        if not is_number(value):
            return self._matrix(key, value, dim)
        if not is_finite(value) or value <= 0:
            self.problems.add(key, f"is {value}; a number multiplies cov_base and must be above 0")
            return None
        return None if base is None else value * base

    def _matrix(self, key: str, value: Any, dim: int) -> np.ndarray | None:
        """`identity`, a list of d diagonal entries or a d×d list, symmetric and ≻ 0."""
        if isinstance(value, str):
            if value == "identity":
                return np.eye(dim)
            if self._no_number(key, value):
                return None
            self.problems.add(
                key, f"is {value!r}; give 'identity', {dim} diagonal entries or a matrix"
            )
            return None
        if isinstance(value, list) and value and all(map(is_number, value)):
            diagonal = self._array(key, value, (dim,))
            matrix = None if diagonal is None else np.diag(diagonal)
        else:
            matrix = self._array(key, value, (dim, dim))
        if matrix is None:
            return None
        scale = np.abs(matrix).max()
        if np.abs(matrix - matrix.T).max() > SYMMETRY_TOLERANCE * scale:
            i, j = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
            self.problems.add(key, f"is not symmetric at [{i}][{j}]; make it equal to [{j}][{i}]")
            return None
        smallest = np.linalg.eigvalsh(matrix)[0]
        if smallest <= dim * np.finfo(float).eps * scale:
            self.problems.add(
                key,
                f"is not positive definite (smallest eigenvalue {smallest:.3g}); "
                "make all eigenvalues positive",
            )
            return None
        return (matrix + matrix.T) / 2

    def _noise(self) -> float:
        value = self.block.get("noise_var", 0)
        if self._no_number("noise_var", value):
            return 0.0
        if not is_finite(value) or value < 0:
            self.problems.add(
                "noise_var", f"is {value!r}; a variance is a finite number, 0 or more"
            )
            return 0.0
        return float(value)


def _shape_words(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"a list of {shape[0]} numbers"
    return f"a {shape[0]}×{shape[1]} list of numbers"
