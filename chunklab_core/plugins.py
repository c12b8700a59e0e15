"""A user's own method, found by `file.py:Class` or `package.module:Class`, in every room by this one rule."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from chunklab_core.cache.keys import PACKAGE, digest, digest_file, parse_source
from chunklab_core.errors import ConfigError, did_you_mean

_INSTALLED = {"site-packages", "dist-packages"}  # folders of what the user has not written


def is_plugin(name: str) -> bool:
    """Whether a configured name points to a user's class and not to a built-in."""
    return ":" in name


def load_plugin(reference: str, base: Path | None = None) -> Any:
    """The object that `file.py:Class` or `package.module:Class` names.

    Args:
        reference: what the user wrote. A relative file is looked up in `base`, by default the working folder.
        base: the folder of the configuration file.

    Raises:
        ConfigError: the file, the module or the name is not there, or importing it fails.
    """
    source, name = _parts(reference)
    module = _from_file(reference, source, base) if source.endswith(".py") else _from_package(reference, source)
    if not hasattr(module, name):
        known = sorted(key for key in vars(module) if not key.startswith("_"))
        raise ConfigError(
            f"{reference!r}: {source} defines no {name!r}{did_you_mean(name, known)} Write a name it defines."
        )
    return getattr(module, name)


def plugin_file(reference: str, base: Path | None = None) -> Path | None:
    """The file that holds a plug-in, so that a changed file is a changed method; None where it has no file."""
    source, _ = _parts(reference)
    if source.endswith(".py"):
        return _existing_file(reference, source, base)
    origin = getattr(_from_package(reference, source), "__file__", None)
    return Path(origin) if origin else None


def plugin_digest(reference: str, base: Path | None = None) -> str | None:
    """SHA-256 of the file that holds a plug-in and of the user's files that it imports; None where it has no file.

    What is imported by name is imported once in a process and stays as it is, so it counts as it was at first.
    """
    file = plugin_file(reference, base)
    if file is None:
        return None
    source, _ = _parts(reference)
    in_file = source.endswith(".py")
    own = digest_file(file) if in_file else _digest_at_first(file)
    beside = _files_behind([file, *([] if in_file else _files_of(source.partition(".")[0]))]) - {file}
    return digest([own, *sorted(map(_digest_at_first, beside))]) if beside else own


def check_unchanged(reference: str, digest: str | None, base: Path | None = None) -> None:
    """Raises ConfigError when the plug-in just loaded is another than the one whose digest stands in the keys."""
    if is_plugin(reference) and plugin_digest(reference, base) != digest:
        raise ConfigError(f"{reference} was changed during the run. Run again.")


def _files_behind(files: Iterable[Path]) -> set[Path]:
    """These files, and those of all modules that they import and that are the user's own."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            modules = {name: _files_of(name) for name in _imported_by(file)}
            waiting += [each for of in modules.values() for each in of if not _INSTALLED & set(each.parts)]
    return found


def _imported_by(file: Path) -> set[str]:
    """The packages and modules that a file imports by their full names, without those of Python and of chunklab."""
    try:
        parts = list(ast.walk(parse_source(file.read_bytes())))
    except (SyntaxError, ValueError):
        return set()  # importing it will say so, if it is imported at all
    names = [alias.name for part in parts if isinstance(part, ast.Import) for alias in part.names]
    names += [part.module for part in parts if isinstance(part, ast.ImportFrom) and part.module and not part.level]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {PACKAGE}


def _files_of(package: str) -> list[Path]:
    """The source files of a package or module, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    inside = [file for place in spec.submodule_search_locations or () for file in Path(place).rglob("*.py")]
    return inside or [Path(spec.origin)] if spec.origin and spec.origin.endswith(".py") else inside


@cache
def _digest_at_first(file: Path) -> str:
    return digest_file(file)


def _parts(reference: str) -> tuple[str, str]:
    source, _, name = reference.rpartition(":")
    if not source or not name.isidentifier():
        raise ConfigError(f"{reference!r} names no plug-in; write file.py:Class or package.module:Class.")
    return source, name


def _existing_file(reference: str, source: str, base: Path | None) -> Path:
    path = (base or Path()) / Path(source).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"{reference!r}: there is no file {source}; write its path from the folder of the configuration."
        )
    return path.resolve()


def _from_file(reference: str, source: str, base: Path | None) -> ModuleType:
    """The module of one file, under a name made of its path and content: two files never share one."""
    path = _existing_file(reference, source, base)
    content = path.read_bytes()
    digest = hashlib.sha256(str(path).encode() + b"\0" + content).hexdigest()[:16]
    name = f"chunklab_plugin_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ConfigError(f"{reference!r}: {source} cannot be imported as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up here while it is being made
    try:
        # Not by the loader: its compiled files tell two versions apart by size and by second.
        exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"{reference!r}: importing {source} failed: {type(error).__name__}: {error}") from error
    return module


def _from_package(reference: str, source: str) -> ModuleType:
    try:
        return importlib.import_module(source)
    except Exception as error:
        raise ConfigError(f"{reference!r}: importing {source} failed: {type(error).__name__}: {error}") from error
