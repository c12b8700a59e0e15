"""Plug-ins: a user's own method, named `file.py:Class` or `package.module:Class`, by the same rule in every room."""

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

_INSTALLED = {"site-packages", "dist-packages"}  # folders of code that is not the user's own


def is_plugin(name: str) -> bool:
    """Whether a configured name is a user's class and not a built-in."""
    return ":" in name


def load_plugin(reference: str, base: Path | None = None) -> Any:
    """The object that `file.py:Class` or `package.module:Class` names.

    Args:
        reference: the name as typed. A relative file is relative to `base`, by default the working folder.
        base: the folder of the configuration file.

    Raises:
        ConfigError: the file, the module or the name does not exist, or importing it fails.
    """
    source, name = _parts(reference)
    module = _from_file(reference, source, base) if source.endswith(".py") else _from_package(reference, source)
    if not hasattr(module, name):
        known = sorted(key for key in vars(module) if not key.startswith("_"))
        raise ConfigError(
            f"{reference!r}: {source} does not define {name!r}{did_you_mean(name, known)} Write a name that it defines."
        )
    return getattr(module, name)


def plugin_file(reference: str, base: Path | None = None) -> Path | None:
    """The file of a plug-in; None where it has none. A changed file is a changed method."""
    source, _ = _parts(reference)
    if source.endswith(".py"):
        return _existing_file(reference, source, base)
    origin = getattr(_from_package(reference, source), "__file__", None)
    return Path(origin) if origin else None


def plugin_digest(reference: str, base: Path | None = None) -> str | None:
    """SHA-256 of the file of a plug-in and of the user's files that it imports; None where it has no file.

    Python imports a module once in a process, so a file imported by name counts as it was at first.
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
    """Raises ConfigError when the plug-in just loaded differs from the one whose digest is in the keys."""
    if is_plugin(reference) and plugin_digest(reference, base) != digest:
        raise ConfigError(f"{reference} was changed during the run. Run again.")


def _files_behind(files: Iterable[Path]) -> set[Path]:
    """These files, and those of all the user's own modules that they import."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            imported = [each for name in _imported_by(file) for each in _files_of(name)]
            waiting += [each for each in imported if not _INSTALLED & set(each.parts)]
    return found


def _imported_by(file: Path) -> set[str]:
    """The top-level packages and modules that a file imports, without those of Python and of chunklab."""
    try:
        parts = list(ast.walk(parse_source(file.read_bytes())))
    except (SyntaxError, ValueError):
        return set()  # importing it raises the error, if it is imported at all
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
        raise ConfigError(f"{reference!r} is not the name of a plug-in. Write file.py:Class or package.module:Class.")
    return source, name


def _existing_file(reference: str, source: str, base: Path | None) -> Path:
    path = (base or Path()) / Path(source).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"{reference!r}: the file {source} does not exist. Write its path relative to the settings file."
        )
    return path.resolve()


def _from_file(reference: str, source: str, base: Path | None) -> ModuleType:
    """The module of one file. Its name is made of the file's path and content, so no two files share one."""
    path = _existing_file(reference, source, base)
    content = path.read_bytes()
    digest = hashlib.sha256(str(path).encode() + b"\0" + content).hexdigest()[:16]
    name = f"chunklab_plugin_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ConfigError(f"{reference!r}: {source} cannot be imported. Name a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up here during the import
    try:
        # Not by the loader: its compiled files ignore a change within one second that keeps the size.
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
