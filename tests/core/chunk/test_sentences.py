import pytest

from chunklab_core.chunk.sentences import begins_sentence, sentence_spans


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Fire is hot. It is dry! Is it? Yes.", ["Fire is hot.", "It is dry!", "Is it?", "Yes."]),
        ("no stop at the end", ["no stop at the end"]),
        ("", []),
        (" \n ", []),
        ("Dr. Smith met J. Doe. They spoke.", ["Dr. Smith met J. Doe.", "They spoke."]),
        ("See Fig. 3 and No. 12. Then go on.", ["See Fig. 3 and No. 12.", "Then go on."]),
        ("He said no. She left.", ["He said no.", "She left."]),
        ("Pay 12.50 by 3 p.m. on Monday.", ["Pay 12.50 by 3 p.m. on Monday."]),
        ('He said "Stop!" and left. (It was late.) Good.', ['He said "Stop!" and left.', "(It was late.)", "Good."]),
        ("火は熱い。水は冷たい！「はい。」次。", ["火は熱い。", "水は冷たい！", "「はい。」", "次。"]),
        ("النار حارة. هل الماء بارد؟ نعم.", ["النار حارة.", "هل الماء بارد؟", "نعم."]),
        ("आग गर्म है। पानी ठंडा है।", ["आग गर्म है।", "पानी ठंडा है।"]),
        ("one line\ngoes on here", ["one line\ngoes on here"]),
        ("first\n\nsecond", ["first", "second"]),
        ("Steps:\n- one\n- two\n1. three\n2. four", ["Steps:", "- one", "- two", "1. three", "2. four"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nAfter it.", ["| a | b |", "|---|---|", "| 1 | 2 |", "After it."]),
        ("# Title\nText of it.", ["# Title", "Text of it."]),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_a_place_begins_a_sentence_whatever_white_space_stands_there() -> None:
    text = "Fire is hot.  It is dry. \n"
    begins = [at for at in range(len(text) + 1) if begins_sentence(text, at)]
    assert begins == [0, 12, 13, 14, 24, 25, 26]
