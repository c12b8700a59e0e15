"""A user's own method, found by `file.py:Class` or `package.module:Class`, in every room by this one rule."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from chunklab_core.errors import ConfigError, did_you_mean
from chunklab_core.fingerprint import digest_file


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
    """SHA-256 of the file that holds a plug-in; None where it has no file.

    A module of a package is imported once in a process and stays as it is, so its file counts as it was at first.
    """
    file = plugin_file(reference, base)
    if file is None:
        return None
    return digest_file(file) if _parts(reference)[0].endswith(".py") else _digest_at_first(file)


def check_unchanged(reference: str, digest: str | None, base: Path | None = None) -> None:
    """Raises ConfigError when the plug-in just loaded is another than the one whose digest stands in the keys."""
    if is_plugin(reference) and plugin_digest(reference, base) != digest:
        raise ConfigError(f"{reference} was changed while the run was going on. Run again.")


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
