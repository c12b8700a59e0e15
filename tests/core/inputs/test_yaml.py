import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.errors import ConfigError
from chunklab_core.inputs.yaml import load, read_text


@pytest.mark.parametrize(
    "typed", ["0123", "yes", "no", "on", "off", "y", "2026-03-01", "1_000", "0x1f", "0o17", "12:30:45", "1e", "<<", "="]
)
def test_text_that_looks_like_another_type_stays_text(typed: str) -> None:
    assert load(f"a: {typed}\n", "f")[0] == {"a": typed}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("12", 12), ("-3", -3), ("+4", 4), ("0", 0), ("1.5", 1.5), (".5", 0.5), ("2.", 2.0), ("1e-3", 0.001),
        ("1.0e+3", 1000.0), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        (".inf", math.inf), ("-.inf", -math.inf), ("'12'", "12"), ('"null"', "null"), ("!!str 12", "12"),
    ],
)  # fmt: skip
def test_numbers_truth_and_null_follow_the_core_schema(typed: str, value: object) -> None:
    read = load(f"a: {typed}\n", "f")[0]

    assert read == {"a": value}
    assert type(read["a"]) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(load("a: .nan", "f")[0]["a"])


@settings(derandomize=True, max_examples=100)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30))
def test_a_quoted_text_comes_back_as_it_was_typed(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"

    assert load(f"a: {quoted}\n", "f")[0] == {"a": text}


def test_every_key_and_entry_has_its_line() -> None:
    _, lines = load("# first\na:\n  b: 1\nc:\n  - x\n  - y\n", "f")

    assert {path: line for path, line in lines.items() if path} == {
        ("a",): 2, ("a", "b"): 3, ("c",): 4, ("c", 0): 5, ("c", 1): 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"^f, line 3: the key 'a' is written twice, first on line 1\."),
        ("a: 1\n'a': 3\n", r"line 2: the key 'a' is written twice"),
        ("a: {b: 1, b: 2}\n", r"line 1: the key 'b' is written twice"),
        ("a: 1\n\tb: 2\n", r"^f, line 2: this is not valid YAML \(.*\)\. .*not tabs"),
        ("a: fee: none\n", r"line 1: .*contains a colon and a space in quotes"),
        ("a: 'open\nb: 1\n", r"line 2: .*begins on line 1\)\. Close the quotes"),
        ("a: *bold* words\n", r"line 1: .*begins with \* or & in quotes"),
        ("a: 1\n---\nb: 2\n", r"line 2: .*remove the line with three dashes"),
        ("a: %x\n", r"line 1: .*special character in quotes"),
        ("a: b\x01c\n", r"line 1: this is not valid YAML \(.*characters are not allowed"),
        ("a: 1\n{{ b }}: 2\n", r"line 2: a key is a list or a mapping"),
        ("a: !!python/name:os.system x\n", r"line 1: unsupported tag"),
        ("a: !set [x]\n", r"line 1: unsupported tag '!set'"),
        ("a: Is rule #5 valid?\n", r"line 1: YAML reads the text after 'Is rule' as a comment"),
        ("a: &x [*x]\n", r"more than 40 levels deep"),
        ("[" * 2000, r"^f.*: (this is not valid YAML|values are nested too deeply)"),
    ],
)
def test_text_that_yaml_would_lose_or_guess_is_one_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(text, "f")

    assert "\n" not in str(caught.value)


def test_comments_with_a_space_and_aliases_are_read() -> None:
    assert load("a: one  # a comment\nb: &list [x]\nc: *list\nd: a#b\n", "f")[0] == {
        "a": "one", "b": ["x"], "c": ["x"], "d": "a#b",
    }  # fmt: skip


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory() -> None:
    rows = [f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]" for at in range(1, 40)]
    with pytest.raises(ConfigError, match=r"^c\.yaml, line \d+: the file holds more than 100,000 values"):
        load("\n".join(["a0: &a0 [x, x]", *rows]), "c.yaml")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_glued_comment_is_seen_after_any_line_end_and_any_script(ends: str) -> None:
    text = ends.join(["a: 規程 𝒜 é", "b: what is #5", ""])

    with pytest.raises(ConfigError, match="line 2: YAML reads the text after 'what is'"):
        load(text, "f")


def test_a_file_in_another_encoding_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_bytes("a: 1\nb: café\n".encode("latin-1"))

    with pytest.raises(ConfigError, match=r"q\.yaml, line 2: the text is not UTF-8\. Save the file as UTF-8\."):
        read_text(path)


def test_a_byte_order_mark_is_not_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")

    assert load(read_text(path), "f")[0] == {"a": 1}


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(ConfigError, match="Cannot read"):
            read_text(path)
