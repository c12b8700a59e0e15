"""Keys: what makes two pieces of work the same.

A stage's key is made of its name, the code that does it, its parameters, the keys of its inputs and the versions of
the libraries that shape its result. Formatting, comments and docstrings are no part of the code; labels and paths no
part of the parameters. A key that forgets something serves stale results; one that holds too much does work twice.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import sys
import threading
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

PACKAGE = "chunklab_core"

# What only keeps results, reads settings, words messages or finds a user's class. It shapes no result: what is read is
# what was written (by checksum), settings are parameters of a key, and a model is there by its digest.
_SHAPES_NO_RESULT = (
    *("cache", "inputs", "plan", "report", "records.report", "records.marks", "errors", "models", "plugins"),
    *("pipeline", "graph", "stages.stage"),
)
_ENDS_THE_RUN = ("ConfigError", "ContractError", "ValueError")
_LOGS = ("_log.", "_progress.")

_PARSING = threading.Lock()


def parse_source(source: str | bytes) -> ast.Module:
    """The syntax tree of Python source; one at a time, for Python 3.11 fails where threads build trees at once."""
    with _PARSING:
        return ast.parse(source)


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of a value of plain JSON types."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_bytes(content: bytes) -> str:
    """SHA-256, in hexadecimal, of bytes."""
    return hashlib.sha256(content).hexdigest()


def digest_file(path: Path) -> str:
    """SHA-256, in hexadecimal, of a file's bytes; always of the bytes, for size and time can stay while they change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stage_key(
    stage: str, *, code: str, parameters: Mapping[str, Any], inputs: Mapping[str, Any], libraries: Iterable[str]
) -> str:
    """The key of one stage's result.

    Args:
        stage: the stage's name.
        code: fingerprint of all code that shapes the result, see `code_of_modules`.
        parameters: the stage's own parameters, plain JSON types.
        inputs: by name, the reference of each input or a list of them.
        libraries: distributions whose version shapes the result.
    """
    versions = versions_of(libraries)
    return digest(
        {"stage": stage, "code": code, "parameters": dict(parameters), "inputs": dict(inputs), "libraries": versions}
    )


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """The versions that a stage's key holds, by the name of the library."""
    versions = {name: version_of(name) for name in libraries}
    versions["unicode"] = unicodedata.unidata_version  # what Python takes for letters, case and composed characters
    return versions


@cache
def version_of(distribution: str) -> str:
    """The installed version of a distribution, or "absent"."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def sources_of_package() -> str:
    """Digest of all that fingerprints of code depend on: the core's files, and the Python that parses them.

    It takes a hundredth of their time, so fingerprints can be kept under it.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ValueError(f"{PACKAGE} is no package with source code.")
    folder = Path(spec.origin).parent
    files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.py"))
    return digest([sys.version, [[name, digest_file(path)] for name, path in files]])


@cache
def worked_out() -> dict[str, str]:
    """The fingerprints of code that this process knows, by what they are of; filled by the functions below."""
    return {}


def code_of_modules(names: Iterable[str]) -> str:
    """Fingerprint of these modules and of every core module that they import, directly or not.

    Imports of what only keeps results, reads settings or words messages are not followed, see `_SHAPES_NO_RESULT`. Nor
    is a package's own module (its `__init__`), which says what the package holds: it counts where it is named here.
    """
    wanted, known = sorted(set(names)), worked_out()
    name = " ".join(wanted)
    if name not in known:
        known[name] = digest(sorted((module, _facts(module)[0]) for module in modules_behind(wanted)))
    return known[name]


def modules_behind(names: Iterable[str]) -> set[str]:
    """These modules and those whose code counts with theirs."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [each for each in _facts(name)[1] if _shapes_results(each)]
    return found


def _shapes_results(module: str) -> bool:
    """Whether an import of this module is followed."""
    spec = _spec_of(module)
    below = module.removeprefix(f"{PACKAGE}.")
    apart = any(below == each or below.startswith(f"{each}.") for each in _SHAPES_NO_RESULT)
    return not apart and not spec.submodule_search_locations


@cache
def _facts(module: str) -> tuple[str, frozenset[str]]:
    """Digest of a module's code, and the core modules that it imports itself."""
    tree = parse_source(_source_of(module))
    imports = frozenset(_imports(tree))
    return digest_bytes(ast.dump(_WithoutWords().visit(tree)).encode()), imports


def _source_of(module: str) -> bytes:
    return Path(str(_spec_of(module).origin)).read_bytes()


def _spec_of(module: str) -> ModuleSpec:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"{module} is not a module with source code.")
    return spec


def _imports(tree: ast.Module) -> set[str]:
    """The core modules that a module imports, inside functions too."""
    found: set[str] = set()
    for part in ast.walk(tree):
        if isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names if _is_core(alias.name)}
        elif isinstance(part, ast.ImportFrom) and part.module and _is_core(part.module):
            found |= {_module_or_member(part.module, alias.name) for alias in part.names}
    return found


@cache
def _module_or_member(module: str, name: str) -> str:
    try:
        return f"{module}.{name}" if importlib.util.find_spec(f"{module}.{name}") else module
    except ModuleNotFoundError:
        return module


def _is_core(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


class _WithoutWords(ast.NodeTransformer):
    """Removes what is written for readers: docstrings, log messages, and the text of errors that end a run."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        value = node.value
        is_log = isinstance(value, ast.Call) and ast.unparse(value.func).startswith(_LOGS)
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        return ast.copy_location(ast.Pass(), node) if is_log or is_text else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return node.func if ast.unparse(node.func) in _ENDS_THE_RUN else self.generic_visit(node)
