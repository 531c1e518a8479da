"""Errors of a schema in plain words, with the fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from ..validation import is_finite, is_number, number_as_text

RENAMED = {  # former keys of the config
    "race": "halve_at",
    "race_group": "halving_group",
    "wide_contexts": "importance_sampling",
    "gradient": "batch_size",
    "forgetting": "beta2_decay",
}


def schema_text(error: ValidationError) -> str:
    value = error.instance
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(value) - set(known), key=str)
        renamed = [key for key in unknown if RENAMED.get(key) in known]
        if renamed:
            return ", ".join(f"{key} is called {RENAMED[key]} now" for key in renamed) + "; rename"
        return f"unknown key {', '.join(map(repr, unknown))}; known are {', '.join(known)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in value]
        return f"{', '.join(missing)} is missing; add it"
    if error.validator == "pattern":
        return (
            f"the name {value!r} is not allowed; use letters, digits, _ and -, and do not begin"
            " with -"
        )
    if text := number_as_text(value):
        return text
    if is_number(value) and not is_finite(value):
        return f"{value} is not finite; give a finite number"
    wanted = error.schema.get("description", "")
    hint = f"; this is: {wanted}" if wanted else ""
    if error.validator == "type":
        return f"{_type_problem(value, error.validator_value)}{hint}"
    if error.validator == "minItems":
        return f"is empty; give at least one entry{hint}"
    if error.validator == "oneOf":
        return f"{value!r} does not fit{hint}"
    if error.validator == "uniqueItems":
        return f"{value!r} repeats itself; give every entry once"
    return f"{error.message}{hint}"


TYPE_WORDS = {
    "object": "a block of keys",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}


def _type_problem(value: Any, wanted: str) -> str:
    words = TYPE_WORDS[wanted]
    if value is None:
        return f"is empty; give {words}"
    if wanted == "integer" and is_number(value) and value == int(value):
        return f"{value} is not {words}; write {int(value)}"
    if wanted == "array" and not isinstance(value, Mapping):
        return f"{value!r} is not {words}; write [{value}]"
    if wanted == "string" and is_number(value):
        return f"{value} is not {words}; write '{value}'"
    return f"{value!r} is not {words}; give {words}"
