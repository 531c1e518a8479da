"""A script's command line, made from the annotations of its main function."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from .errors import InputError, TableError


def command(main: Callable[..., None]) -> Callable[..., None]:
    """Decorate the main function of a script: it is called when the script is run, not imported.

    Its parameters are the options, and those before `/` the positional arguments. Dictionaries,
    and lists of them, are read as JSON; `Annotated` adds help. The log goes to stderr. A user's
    mistake, or too little memory, ends the program with a message instead of a traceback.
    """
    if main.__module__ == "__main__":
        _run(main)
    return main


def _run(main: Callable[..., None]) -> None:
    parser = argparse.ArgumentParser(description=main.__globals__["__doc__"].splitlines()[0])
    hints, positional = get_type_hints(main, include_extras=True), []
    for name, parameter in signature(main).parameters.items():
        settings = _settings(hints[name], parameter.default)
        if parameter.kind is Parameter.POSITIONAL_ONLY:
            positional.append(parser.add_argument(name, **settings).dest)
        else:
            settings["required"] = parameter.default is Parameter.empty
            parser.add_argument(f"--{name.replace('_', '-')}", **settings)
    values = vars(parser.parse_args())
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        main(*[values.pop(name) for name in positional], **values)
    except TableError as error:
        sys.exit(f"{error}\nTo make it again: rm {error.path}, then the same command again")
    except InputError as error:
        sys.exit(str(error))
    except MemoryError as error:
        sys.exit(f"More memory is needed than there is. {error}")


def _settings(hint: Any, default: Any) -> dict[str, Any]:
    """A parameter's keywords for argparse. A list without a default has at least one value."""
    hint, *text = get_args(hint) if get_origin(hint) is Annotated else [hint]
    kind, inner = get_origin(hint) or hint, get_args(hint)
    settings = {"type": inner[0] if inner else kind, "help": text[0] if text else None}
    if default is not Parameter.empty:
        settings["default"] = default
    if dict in (kind, *inner):
        settings["type"] = json.loads
    elif kind is Literal:
        settings |= {"type": str, "choices": inner}
    elif kind in (list, tuple):
        settings["nargs"] = len(inner) if kind is tuple else "*" if "default" in settings else "+"
    return settings
