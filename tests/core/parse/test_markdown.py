import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.parse import parse_bytes
from chunklab_core.records.documents import Document, Note


def parse(text: str) -> Document:
    return parse_bytes("x.md", text.encode(), ".md")


def headings(document: Document) -> list[tuple[int, str]]:
    return [(element.level, element.path[-1]) for element in document.elements if element.kind == "heading"]


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.span.start : block.span.end]) for block in document.elements]


def path_at(document: Document, words: str) -> tuple[str, ...]:
    at = document.text.index(words)
    return next(block.path for block in document.elements if block.span.start <= at < block.span.end)


@pytest.mark.parametrize(
    "code",
    [
        "```sh\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~",
        "`````\n```\n# no\n```\n# no\n`````",
        "   ```\n   # no\n   ```",
        "    # no\n\n    # no",
        "\t# no",
        "```\n# no\n\n# no to the end",
    ],
)
def test_nothing_in_code_is_a_heading_or_a_table(code: str) -> None:
    document = parse(f"# Yes\n\nText.\n\n{code}\n")

    assert headings(document) == [(1, "Yes")]
    assert kinds(document)[2:] == [("code", code)]


def test_a_table_in_a_fence_is_code() -> None:
    assert [kind for kind, _ in kinds(parse("```\n| a |\n|---|\n| 1 |\n```\n"))] == ["code"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One #", (1, "One")),
        ("###### Six", (6, "Six")),
        ("One\n===", (1, "One")),
        ("Two\nlines\n---", (2, "Two lines")),
        ("## A *b* [c](d) `e` &amp; \\# ![f](g)", (2, "A b c e & # f")),
        ("# See [the rules][r]\n\n[r]: http://example.org", (1, "See the rules")),
        ("# a <b>c</b>", (1, "a c")),
        ("#", (1, "")),
    ],
)
def test_a_heading_has_its_level_and_the_words_a_reader_sees(source: str, expected: tuple[int, str]) -> None:
    assert headings(parse(source)) == [expected]


@pytest.mark.parametrize(
    "source",
    ["####### seven", "#none", "\\# none", "> # in a quote", "- # in a list", "<div>\n# in html\n</div>", "a\n\n---"],
)
def test_what_is_no_heading_of_the_document(source: str) -> None:
    assert headings(parse(source)) == []


def test_a_heading_closes_all_of_its_level_and_deeper() -> None:
    document = parse("# A\n\n### B\n\nin b\n\n## C\n\nin c\n\n# D\n\nin d\n")

    assert [path_at(document, words) for words in ("in b", "in c", "in d")] == [("A", "B"), ("A", "C"), ("D",)]
    assert path_at(document, "### B") == ("A", "B")


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Pump\nowner: ops: team\n---\n",
        "---\n# comment\n'title': Pump\ntext: |\n  two\n\n  lines\n...\n",
        "---\n---\n",
        "---\n$schema: a\n2024: b\n---\n",
        "---\n{title: Pump}\n---\n",
        "---\n  title: Pump\n---\n",
        "---\n<<: *base\n---\n",
        '+++\ntitle = "Pump"\n+++\n',
        "--- \r\ntitle: Pump\r\n---\r\n",
        "\ufeff---\ntitle: Pump\n---\n\n",
    ],
)
def test_front_matter_is_no_text(front: str) -> None:
    assert parse(f"{front}# Pump\n").text == "# Pump\n"


@pytest.mark.parametrize(
    "source",
    [
        "---\n\nA rule first.\n\n---\n",
        "---\n1. Step: open\n---\n",
        "---\n**Note**: open\n---\n",
        "---\ntitle: no end\n",
        "\n---\na: b\n---\n",
        "----\na: b\n---\n",
    ],
)
def test_text_after_a_rule_is_kept(source: str) -> None:
    assert parse(source).text == source


def test_blocks_have_their_kind_and_their_exact_place() -> None:
    blocks = [
        ("paragraph", "Text\nof two lines."),
        ("list", "- one\n  # part\n- two"),
        ("table", "| a | b |\n|---|--:|\n| 1 | 2 |\n| \\| |"),
        ("quote", "> said\nlazily"),
        ("list", "1. first"),
        ("code", "```\ncode\n```"),
        ("paragraph", "<div>\nhtml\n</div>"),
        ("paragraph", "[ref]: http://example.org"),
        ("paragraph", "***"),
        ("code", "    indented\n\n    code"),
    ]
    document = parse("\n\n".join(text for _, text in blocks) + "\n")

    assert kinds(document) == blocks


def test_a_table_may_follow_its_sentence_and_ends_at_a_blank_line() -> None:
    assert kinds(parse("See:\na|b\n-|-\n1|2\n\nc|d\n")) == [
        ("paragraph", "See:"),
        ("table", "a|b\n-|-\n1|2"),
        ("paragraph", "c|d"),
    ]


def test_a_table_in_a_list_or_a_quote_is_a_table() -> None:
    assert kinds(parse("- one\n\n  |a|\n  |-|\n  |1|\n\n  two\n- three\n\n> |b|\n> |-|\n> |2|\n")) == [
        ("list", "- one"),
        ("table", "|a|\n  |-|\n  |1|"),
        ("list", "two\n- three"),
        ("table", "> |b|\n> |-|\n> |2|"),
    ]


def test_a_file_without_text_is_said() -> None:
    for source in ("", " \n\n", "---\ntitle: Pump\n---\n"):
        document = parse(source)
        assert (document.text.strip(), document.elements, document.warnings) == ("", (), (Note("no_text"),))


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "# a",
                "a",
                "- a",
                "> a",
                "```",
                "|a|b|",
                "|-|-|",
                "    a",
                "===",
                "---",
                "",
                " \u00a0",
                "[a]: b",
                "<p>",
                "1. a",
                "\ta",
            ]
        )
    )
)
def test_blocks_stand_in_order_and_hold_every_word(lines: list[str]) -> None:
    document = parse("\n".join(["x", *lines]))
    covered = {at for block in document.elements for at in range(block.span.start, block.span.end)}

    assert sum(block.span.end - block.span.start for block in document.elements) == len(covered)
    assert all(character.isspace() or at in covered for at, character in enumerate(document.text))


@pytest.mark.parametrize(
    "unit",
    ["word " * 20, "- a\n", "|1|2|\n", "[a]: b\n", "# h\n\n", "```\n", "> a\n", "> |a|\n> |-|\n\n", "---\na: b\n"],
)
def test_time_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    def seconds(times: int) -> float:
        began = time.process_time()
        parse("|a|b|\n|-|-|\n" + unit * times)
        return time.process_time() - began

    seconds(10)
    assert seconds(4000) < 12 * seconds(1000) + 0.2  # 4 where it is linear, 16 where it is quadratic
