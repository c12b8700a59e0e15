import unicodedata
from time import process_time

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from chunklab_core.index import words
from chunklab_core.index.bm25 import tokenize
from chunklab_core.text import UNSPACED


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Replace RULE-B217 now.", ["replace", "rule-b217", "rule", "b217", "217", "now"]),
        ("Set max_open_jobs to 8.", ["set", "max_open_jobs", "max", "open", "jobs", "to", "8"]),
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("XMLHttpRequest and PDFs", ["xmlhttprequest", "xml", "http", "request", "and", "pdfs"]),
        ("v1.2.3", ["v1.2.3", "1.2.3", "v1", "1", "2", "3"]),
        ("1,000.50", ["1,000.50", "1000.50"]),
        ("1.000,50", ["1.000,50", "1000,50"]),
        ("10.0.0.12", ["10.0.0.12", "10", "0", "12"]),
        ("at 12:30", ["at", "12:30", "12", "30"]),
        ("don't", ["don't", "don"]),
        ("sign-off", ["sign-off", "sign", "off"]),
        ("the work-\nflow", ["the", "workflow", "work", "flow"]),
        ("U.S.A.", ["usa"]),
        ("one, two -- and/or (three)", ["one", "two", "and", "or", "three"]),
        ("退款申请须", ["退款", "款申", "申请", "请须"]),
        ("猫が好き", ["猫が", "が好", "好き", "猫", "好"]),
        ("第3章", ["第", "3", "章"]),
        ("使用GPU加速", ["使用", "gpu", "加速"]),
        ("환불은 곧", ["환불", "불은", "곧"]),
        ("สีดำ", ["สี", "ีด", "ดำ"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("10² m", ["10²", "10", "m"]),
        ("", []),
        (" \n-- ... ''", []),
    ],
)
def test_a_text_gives_its_words_whole_and_in_parts(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe\u0301"),
        ("ﬁlings in the workﬂow", "filings in the workflow"),
        ("ＧＰＵ　４２", "gpu 42"),
        ("ﾒｰﾙ", "メール"),
        ("hy\u00adphen zero\u200bwidth", "hyphen zerowidth"),
        ("RULE\u2011B217", "RULE-B217"),
        ("l\u2019eau", "l'eau"),
        ("STRASSE", "straße"),
        ("ΑΘΗΝΑ", "Αθήνα"),
        ("İSTANBUL", "istanbul"),
        ("Ёлка", "елка"),
        ("أحمد إلى آخر", "احمد الي اخر"),
        ("كِتَابٌ", "كتاب"),
        ("كتـــاب", "كتاب"),
        ("\ufecb\ufee0\ufef0", "على"),
        ("شָׁלוֹם"[1:], "שלום"[1:]),
        ("٣٤ ३४ ๓๔", "34 34 34"),
        ("น้ำ", "น\u0e4d\u0e49\u0e32"),
        ("น้ำ", "น\u0e49\u0e4d\u0e32"),
        ("ນ້ຳ", "ນ\u0ec9\u0ecd\u0eb2"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("がぎ", unicodedata.normalize("NFD", "がぎ")),
        ("葛\U000e0100飾", "葛飾"),
        ("\u2f49\u2f47", "月日"),
        ("क़लम", "क\u093cलम"),
    ],
)
def test_what_a_reader_takes_for_the_same_word_is_the_same_term(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other) != []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("退款", "请在三十天内申请退款。"),
        ("申込書", "この申込書を提出する"),
        ("水", "その水はきれい"),
        ("メール", "確認メールを送る"),
        ("환불", "고객이환불을요청"),
        ("คืนเงิน", "ขอคืนเงินภายในสามสิบวัน"),
        ("ສະບາຍ", "ຄໍາວ່າສະບາຍດີ"),
        ("ភាសា", "នេះជាភាសាខ្មែរ"),
        ("မြန်မာ", "ဤသည်မြန်မာစာဖြစ်"),
        ("GPU", "把GPU装好"),
        ("B217", "fuse RULE-B217"),
        ("5000 dollars", "5,000"),
        ("1.2.3", "client v1.2.3"),
        ("user", "call getUserName()"),
        ("jobs", "max_open_jobs=8"),
        ("getusername", "call getUserName()"),
        ("كتاب", "هذا كِتَابٌ"),
        ("5 km", "a 5km run"),
        ("2024", "on 2024-05-03"),
    ],
)
def test_a_typed_word_shares_a_term_with_the_text_that_holds_it(query: str, text: str) -> None:
    assert set(tokenize(query)) & set(tokenize(text))


@pytest.mark.parametrize(("one", "other"), [("schön", "schon"), ("10²", "102"), ("B217", "B218"), ("5,000", "5")])
def test_another_word_is_not_the_same_term(one: str, other: str) -> None:
    assert not set(tokenize(one)) & set(tokenize(other))


@settings(max_examples=200, derandomize=True)
@given(st.text())
def test_terms_hold_no_blank_and_composition_changes_none(text: str) -> None:
    terms = tokenize(text)

    assert all(term and not any(letter.isspace() or letter == words._SEAM for letter in term) for term in terms)
    assert tokenize(unicodedata.normalize("NFC", text)) == tokenize(unicodedata.normalize("NFD", text))


@settings(max_examples=200, derandomize=True)
@given(st.text(alphabet="aZbY09_-.',:/ \n()é漢カ"))
def test_every_run_of_letters_and_digits_is_in_some_term(text: str) -> None:
    folded = " ".join(tokenize(text))

    assert all(character in folded for character in text.lower() if character.isalnum())


@settings(max_examples=200, derandomize=True)
@given(st.text(alphabet="abcXYZ012_-.',:/;() \n"))
def test_plain_text_has_the_same_terms_beside_other_scripts(text: str) -> None:
    terms = tokenize(text)

    assert tokenize(f"{text} \u00e9") == [*terms, "\u00e9"]
    assert tokenize(f"{text} \u6f22") == [*terms, "\u6f22"]


def test_the_first_look_for_runs_misses_no_character_of_such_a_script() -> None:
    characters = map(chr, range(0x110000))
    unspaced = regex.findall(f"[{UNSPACED}]", "".join(characters), regex.VERSION1)

    assert [c for c in unspaced if not words._MAY_HAVE_RUN.match(c) and not "\uff01" <= c <= "\uffee"] == []


@pytest.mark.parametrize("unit", ["a", "a-", "aB", "1,", "e\u0301", "漢", "ก", "A\u0301", "-\n", "é-\n"])
def test_a_run_without_blanks_takes_linear_time(unit: str) -> None:
    times = []
    for length in (20_000, 80_000):
        start = process_time()
        tokenize(unit * length)
        times.append(process_time() - start)

    assert times[1] < 12 * times[0] + 0.05  # 4 in theory, 16 where it is quadratic
