"""The encoder: everything that shapes a stored vector, its count of pieces and the end of its window.

Why apart: the digest of a model holds the code of this module and of no other, so an edit anywhere else keeps every
stored vector, and an edit here retires them all.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunklab_core.errors import ConfigError, first_line

LIBRARIES = ("sentence-transformers", "transformers", "torch", "tokenizers")
"""The distributions whose versions shape a vector."""

_PADDING = 16  # each text is padded to the next multiple, so that its vector does not depend on its neighbours
_BATCH_TOKENS = 1024  # padded tokens in one call of the model; larger batches are slower on a CPU

_log = logging.getLogger(__name__)

PieceCounter = Callable[[Sequence[str]], list[int]]
"""The number of pieces of each text."""


class SentenceTransformerEncoder:
    """Calls a sentence-transformers model in short batches of texts that are padded to the same length."""

    def __init__(self, folder: Path, *, name: str, max_length: int | None, count_pieces: PieceCounter) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # weights load in a moment
        _log.info("loading embedding model %s", name)
        self._count_pieces = count_pieces
        try:
            self._model = SentenceTransformer(str(folder), device=None, local_files_only=True)
        except Exception as error:
            raise ConfigError(f"Embedding model {name} cannot be loaded: {first_line(error)}") from error
        self._limit = max_length or int(self._model.max_seq_length or 512)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dim), float32."""
        if not texts:
            return np.zeros((0, self._model.get_embedding_dimension() or 0), dtype=np.float32)
        rows: dict[int, NDArray[np.float32]] = {}
        for length, positions in self._batches(texts):
            vectors = self._model.encode(
                [texts[position] for position in positions],
                batch_size=max(1, _BATCH_TOKENS // length),
                convert_to_numpy=True,
                show_progress_bar=False,
                prompt="",
                processing_kwargs={"text": {"pad_to_multiple_of": _PADDING}},
            )
            rows.update(zip(positions, vectors, strict=True))
        return np.stack([rows[position] for position in range(len(texts))])

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
        """A padded length, and the positions of the texts that are padded to it."""
        padded = [-(-min(count, self._limit) // _PADDING) * _PADDING for count in self._count_pieces(texts)]
        order = sorted(range(len(texts)), key=lambda position: (padded[position], position))
        for length, group in groupby(order, key=lambda position: padded[position]):
            yield max(length, _PADDING), list(group)


def piece_counter(folder: Path) -> PieceCounter:
    """Counts pieces with the tokenizer in a model's folder, special pieces included."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        return _slow_piece_counter(folder)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda texts: [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(list(texts))]


def _slow_piece_counter(folder: Path) -> PieceCounter:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    return lambda texts: [len(ids) for ids in tokenizer(list(texts), truncation=False)["input_ids"]]


def window_finder(folder: Path, max_length: int) -> Callable[[Sequence[str]], list[int]]:
    """Finds the character at which the first piece begins that the model does not read; else the text's length."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        count_pieces = _slow_piece_counter(folder)
        return lambda texts: [window_by_counting(text, count_pieces, max_length) for text in texts]
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)

    def find(texts: Sequence[str]) -> list[int]:
        return [
            next(start for start, end in read.overflowing[0].offsets if end) if read.overflowing else len(text)
            for text, read in zip(texts, tokenizer.encode_batch(list(texts)), strict=True)
        ]  # special pieces have the offsets 0:0

    return find


def window_by_counting(text: str, count_pieces: PieceCounter, max_length: int) -> int:
    """The length of the longest beginning of a text that has no more pieces than the model reads.

    For tokenizers that do not report the offsets of their pieces. It may differ from the true end within the last
    word, because a cut word splits into other pieces.
    """
    ends = range(len(text))  # a shorter beginning has no more pieces than a longer one, but for its last word
    return bisect_right(ends, max_length, key=lambda end: count_pieces([text[: end + 1]])[0])
