"""A digest of the code that a job uses: a parameter by which Snakemake notices edits.

Modules are found by following imports, from the job's script and from modules that are loaded by
name (a model, a kind of figure, a source). So no list is needed, a digest does not change when the
clone is moved, and an edit reruns exactly the jobs that use the edited code.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).parents[1]


def code_digest(script: Path, *loaded: str, data: Iterable[Path] = ()) -> str:
    """The digest of a script, of everything that it and the modules `loaded` import, and of files.

    Names of modules are relative to the library: `models.attention`.
    """
    names = {name for root in _imports(script) for name in _closure(root)}
    names |= {name for root in loaded for name in _closure(root)}
    files = [script, *(_path(name) for name in sorted(names)), *data]
    return hashlib.sha256(b"".join(hashlib.sha256(_bytes(f)).digest() for f in files)).hexdigest()


@cache
def _closure(name: str) -> frozenset[str]:
    """A module, the packages it is in, and everything they import."""
    found, waiting = set(), {name}
    while waiting:
        module = waiting.pop()
        found.add(module)
        parents = {module.rpartition(".")[0]} if module else set()
        waiting |= ({*_imports(_path(module), module)} | parents) - found
    return frozenset(found)


@cache
def _imports(file: Path, module: str | None = None) -> tuple[str, ...]:
    """The library's modules that a file imports; the library itself is ''."""
    package = ["decoupling", *(module.split(".") if module else [])]
    if module is None or file.name != "__init__.py":
        package.pop()  # the package of a module; a script has none
    found = []
    for node in _executed(ast.parse(_bytes(file))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found += [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
    names = (name.removeprefix("decoupling").lstrip(".") for name in found if _ours(name))
    return tuple(name for name in names if _path(name).exists())


def _ours(name: str) -> bool:
    return name.split(".")[0] == "decoupling"


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All statements, except imports for type checkers alone."""
    yield node
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # of which there are many more
            yield from _executed(child)


def _path(name: str) -> Path:
    """The file of a module or package; for an imported function, one that does not exist."""
    path = LIBRARY.joinpath(*name.split(".")) if name else LIBRARY
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _bytes(file: Path) -> bytes:
    return file.read_bytes()
