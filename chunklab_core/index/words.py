"""The terms of a text for keyword search.

Why: a keyword search finds a chunk only when question and chunk are cut into the same terms. People type what they see,
but without the capitals, hyphens or vowel signs of the page; they type half of an identifier, or two characters of an
unbroken line. So text is folded first (`text.fold`), and then:

- A word of a script with blanks is one term, its combining marks included. No stop words, no stemming. An accent makes
  another word (schon is not schön). Signs that ordinary print leaves out make no other word: Arabic and Hebrew vowel
  signs, accents of Greek, the two dots of the Russian yo, the dot that a lowered Turkish capital I keeps. Arabic has
  one alef, one ya (dotted, dotless, Persian), one kaf, ha for ta marbuta, no tatweel, and plain letters for
  presentation forms.
- Digits of all scripts are equal. A number keeps its separators (12:30, 3.14). If they group thousands, the number
  without them is a term too (5,000 and 5000); otherwise its parts are.
- Words joined by _ - . ' and numbers joined by . , : / - are a compound: it is a term, and so is each different part.
  Joints, the capitals of camelCase and the borders of letters and digits separate parts: RULE-B217 gives rule-b217,
  rule, b217, 217. A single letter is not a part; it would match unrelated words. Initials are a term without their full
  stops (U.S.A. is usa), and a word broken at a line's end is joined and also in parts.
- Scripts without blanks give every pair of neighbours in a run of characters. Han and Kana form one run, and a Han
  character alone between Kana is also a term, because it is often a word. A run of one character is a term.

A compound and its parts count alike in the frequency of a term and in the length of a chunk, which is its number of
terms.
"""

from __future__ import annotations

import re
import unicodedata

import regex

from chunklab_core.text import UNSPACED, fold

_SEAM = "\x01"  # separates two parts of a word that is written without a joint; never inside a term

_JOINTS = rf"(?:_+|[-.'{_SEAM}]|(?<=[0-9])[,:/](?=[0-9]))"
_ASCII_COMPOUND = re.compile(rf"[a-z0-9]++(?:{_JOINTS}[a-z0-9]++)*+")
_ASCII_TABLE = {
    code: chr(code).lower() if chr(code).isalnum() or chr(code) in f"_-.',:/{_SEAM}" else " " for code in range(128)
}
_EDGES = "_-.',:/;!?()[]{}\"\u2018\u201c\u201d\u201e\u00ab\u00bb\u2026\u2013\u2014"

# Marks outside their scripts: the long-vowel mark and the combining voice marks of Kana, and the closing mark of Han.
_CJK_MARKS = r"\u30fc\u3099\u309a\u3006"
_LETTERS = rf"[\p{{L}}\p{{M}}\p{{N}}--[{UNSPACED}{_CJK_MARKS}]]"
_COMPOUND = regex.compile(rf"{_LETTERS}++(?:{_JOINTS}{_LETTERS}++)*+", regex.VERSION1)
_COMPOUND_OR_RUN = regex.compile(
    rf"({_COMPOUND.pattern})|([\p{{Han}}\p{{Hiragana}}\p{{Katakana}}{_CJK_MARKS}]++"
    r"|\p{Hangul}++|\p{Thai}++|\p{Lao}++|\p{Khmer}++|\p{Myanmar}++)",
    regex.VERSION1,
)
_LONE_HAN = regex.compile(r"(?<!\p{Han})\p{Han}(?!\p{Han})")
# The blocks that hold all scripts of UNSPACED, and others: a cheap first check.
_MAY_HAVE_RUN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u2e80-\u9fff\ua960-\ua97f\ua9e0-\ua9ff"
    "\uaa60-\uaa7f\uac00-\ufaff\U000116d0-\U000116ff\U00016fe0-\U0003ffff]"
)

# A capital after a small letter begins a part; so does the last of several capitals, where two small letters follow.
_ASCII_CAPITAL = re.compile(r"[A-Z](?:(?<=[a-z].)|(?<=[A-Z].)(?=[a-z]{2}))")
_CAPITAL = regex.compile(r"\p{Lu}(?:(?<=\p{Ll}\p{M}*.)|(?<=\p{Lu}\p{M}*.)(?=\p{M}*\p{Ll}\p{M}*\p{Ll}))")
_BROKEN = regex.compile(r"(?<=\p{L}\p{M}*)-\r?\n[ \t]*(?=\p{L})")

_JOINT = re.compile(r"[-.',:/_]+")
_PART = re.compile(r"[0-9]+|[^0-9]+")
_DOTTED_NUMBER = re.compile(r"(?<![0-9])[0-9]+(?:[.,:][0-9]+)+")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_GROUPED = re.compile(  # with commas, full stops or apostrophes; four groups by full stops are an address
    r"[0-9]{1,3}(?:(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]+)?|(?:\.[0-9]{3}){1,2}(?:,[0-9]+)?|(?:'[0-9]{3})+(?:\.[0-9]+)?)"
)

_GREEK = (*range(0x0386, 0x03CF), *range(0x1F00, 0x2000))
_FORMS = (
    *range(0x2E80, 0x2FD6),  # radicals, which some PDF files hold instead of characters
    *range(0xFB1D, 0xFE00),  # Hebrew and Arabic letters as they are drawn in a word
    *range(0xFE70, 0xFEFD),
)
_DIGITS = (*range(0x0660, 0x10000), *range(0x104A0, 0x104AA), *range(0x1D7CE, 0x1D800))
_SIGNS = regex.compile(  # reading signs of Hebrew and Arabic, tatweel, and the selectors of a character's picture
    r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u06df-\u06e8\u06ea-\u06ed\u08d3-\u08ff\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_LETTERS_ALIKE = {
    **dict.fromkeys("\u0623\u0625\u0622\u0671", "\u0627"),  # alef with hamza, madda or wasla: alef
    **dict.fromkeys("\u0649\u06cc", "\u064a"),  # dotless and Persian ya: ya
    "\u06a9": "\u0643",  # Persian kaf: kaf
    "\u0629": "\u0647",  # ta marbuta: ha
    "\u0451": "\u0435",  # Russian yo: ye
    "\u0131": "i",  # dotless i
    **dict.fromkeys("\u2019\u02bc", "'"),
    **dict.fromkeys("\u2010\u2011\u05be", "-"),  # hyphen, non-breaking hyphen, maqaf
    "\u066b": ".",  # Arabic decimal and thousands separator
    "\u066c": ",",
}


def _characters() -> dict[str, str]:
    """The replacement of each character that is not read as itself: another letter, several, or none."""
    signs = {chr(code): "" for code in (*range(0x0591, 0x0900), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))}
    digits = {chr(code): str(unicodedata.decimal(chr(code))) for code in _DIGITS if chr(code).isdecimal()}
    greek = {chr(code): unicodedata.normalize("NFD", chr(code))[0] for code in _GREEK}
    forms = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in _FORMS}
    plain = {
        form: "".join(_LETTERS_ALIKE.get(letter, letter) for letter in _SIGNS.sub("", letters))
        for form, letters in (forms | greek).items()
        if letters != form
    }
    return {sign: "" for sign in signs if _SIGNS.match(sign)} | digits | plain | _LETTERS_ALIKE


_CHARACTERS = _characters()
_VARIANT = re.compile(  # beyond U+FFFF by range: `re` looks such characters up one by one
    f"[{re.escape(''.join(filter(lambda character: character <= chr(0xFFFF), _CHARACTERS)))}"
    "\U000104a0-\U000104a9\U0001d7ce-\U0001d7ff\U000e0100-\U000e01ef]"
)
_SARA_AM = re.compile("\u0e4d([\u0e48-\u0e4b]*)\u0e32|\u0ecd([\u0ec8-\u0ecb]*)\u0eb2")  # Thai, Lao: in two characters


def tokenize(text: str) -> list[str]:
    """The terms of a text in reading order, repeats included; texts with the same words give the same terms.

    Questions and chunks are cut alike.
    """
    text = text.replace(_SEAM, " ")
    if "-\n" in text or "-\r" in text:
        text = _BROKEN.sub(_SEAM, text)
    if text.isascii():
        return _words(_ASCII_CAPITAL.sub(_after_seam, text).translate(_ASCII_TABLE))
    text = _plain(fold(_CAPITAL.sub(_after_seam, text)))
    if _MAY_HAVE_RUN.search(text):
        return [term for word, run in _COMPOUND_OR_RUN.findall(text) for term in (_pairs(run) if run else _parts(word))]
    return _words(text)


def _after_seam(match: re.Match[str] | regex.Match[str]) -> str:
    return f"{_SEAM}{match[0]}"


def _plain(text: str) -> str:
    """Folded text in plain letters and digits."""
    text = _VARIANT.sub(lambda match: _CHARACTERS[match[0]], text).replace("i\u0307", "i")
    if "\u0e4d" in text or "\u0ecd" in text:
        text = _SARA_AM.sub(lambda match: f"{match[1]}\u0e33" if match[0][0] == "\u0e4d" else f"{match[2]}\u0eb3", text)
    return text


def _words(text: str) -> list[str]:
    """Terms of folded text in scripts with blanks; most words are one term, which a quick check shows."""
    terms: list[str] = []
    for word in text.split():
        if word.isalpha() or (word := word.strip(_EDGES)).isalpha():
            terms.append(word)
        elif word:
            find = _ASCII_COMPOUND.findall if word.isascii() else _COMPOUND.findall
            for compound in find(word):
                terms.extend(_parts(compound))
    return terms


def _parts(compound: str) -> list[str]:
    """The whole compound, then each of its different parts."""
    if compound.isalpha() or compound.isdecimal():
        return [compound]
    whole = compound.replace(_SEAM, "")
    if whole[0].isdecimal() and _GROUPED.fullmatch(whole):
        return [whole, whole.replace(whole.lstrip("0123456789")[0], "")]
    if whole[1:2] == "." and _INITIALS.fullmatch(whole):
        return [whole.replace(".", "")]
    terms = [whole, *(_DOTTED_NUMBER.findall(whole) if "." in whole else ())]
    for word in _JOINT.split(compound):
        terms += [word] if word.isalpha() or word.isdecimal() else _inner_parts(word)
    return list(dict.fromkeys(term for term in terms if len(term) > 1 or term.isdecimal() or term == whole))


def _inner_parts(word: str) -> list[str]:
    """A word without joints, and its parts by capitals and by the borders of letters and digits."""
    terms = [word.replace(_SEAM, "")]
    for part in word.split(_SEAM):
        terms += [part, *_PART.findall(part)]
    return terms


def _pairs(run: str) -> list[str]:
    """Pairs of neighbours in a run of characters without blanks."""
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)] + _LONE_HAN.findall(run)
