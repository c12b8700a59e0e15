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
from pathlib import Path
from typing import Any

PACKAGE = "chunklab_core"

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
        code: fingerprint of all code that shapes the result, see `code_of_room` and `code_of_function`.
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


def code_of_room(room: str) -> str:
    """Fingerprint of every module of a room and of every core module that these import, directly or not."""
    package, known = f"{PACKAGE}.{room}", worked_out()
    if package not in known:
        known[package] = _code_of_modules(_modules_of(package))
    return known[package]


def _modules_of(package: str) -> set[str]:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ValueError(f"{package} is no module of the core.")
    if not spec.submodule_search_locations:
        return {package}
    folder = Path(spec.origin).parent
    parts = (path.relative_to(folder).with_suffix("").parts for path in folder.rglob("*.py"))
    return {".".join((package, *(part for part in each if part != "__init__"))) for each in parts}


def code_of_function(module: str, function: str, apart: frozenset[str] = frozenset()) -> str:
    """Fingerprint of one function: its own code, that of what it uses in its module, and that of what these import.

    So the stages of one module have keys of their own: a change in one function leaves the others as they are. That
    needs `apart`, names that are not followed: a table of all stages, used by one of them, would lead to all.
    """
    name, known = " without ".join([f"{module}:{function}", *sorted(apart)]), worked_out()
    if name not in known:
        known[name] = _code_of_function(module, function, apart)
    return known[name]


def _code_of_function(module: str, function: str, apart: frozenset[str]) -> str:
    tree = _parsed(module)
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _names_defined(statement):
            defined.setdefault(name, []).append(statement)
    if function not in defined:
        raise ValueError(f"{module} defines no {function}.")
    used: set[str] = set()
    waiting = [function]
    while waiting:
        name = waiting.pop()
        if name in used or name in apart or name not in defined:
            continue
        used.add(name)
        waiting += [part.id for node in defined[name] for part in ast.walk(node) if isinstance(part, ast.Name)]
    statements = [node for name in used for node in defined[name]]
    imports = {target for node in statements for target in _imports(node)}
    own = sorted({ast.dump(_without_docstrings(node)) for node in statements if not _is_import(node)})
    return digest([own, _code_of_modules(imports)])


def code_of_modules(names: Iterable[str]) -> str:
    """Fingerprint of these modules and of every core module that they import, directly or not."""
    return _code_of_modules(names)


def _code_of_modules(names: Iterable[str]) -> str:
    closed: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in closed:
            closed[name], imports = _facts(name)
            waiting += imports
    return digest(sorted(closed.items()))


@cache
def _facts(module: str) -> tuple[str, frozenset[str]]:
    """Digest of a module's code, and the core modules that it imports itself."""
    imports = frozenset(_imports(_parsed(module)))
    return digest_bytes(ast.dump(_without_docstrings(_parsed(module))).encode()), imports


@cache
def _parsed(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"{module} is no module with source code.")
    return parse_source(Path(spec.origin).read_bytes())


def _imports(node: ast.AST) -> set[str]:
    """The core modules that a piece of code imports, those of functions included."""
    found: set[str] = set()
    for part in ast.walk(node):
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


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _names_defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
        case ast.If(body=body, orelse=orelse) | ast.Try(body=body, orelse=orelse):
            branches = [*body, *orelse, *(part for each in getattr(node, "handlers", []) for part in each.body)]
            return [name for part in branches for name in _names_defined(part)]
        case _:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
            return [part.id for part in stored]


def _without_docstrings(node: ast.AST) -> ast.AST:
    """The tree without bare strings in modules, classes and functions; a whole module is changed in place."""
    stripped = parse_source(ast.unparse(node)) if not isinstance(node, ast.Module) else node
    for part in ast.walk(stripped):
        if isinstance(part, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            part.body = [line for line in part.body if not _is_bare_string(line)] or [ast.Pass()]
    return stripped


def _is_bare_string(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
