"""Every place of a document that reads like a wording."""

from __future__ import annotations

from chunklab_core.records.questions import Gold
from chunklab_core.score.locate import locate
from chunklab_core.score.wordings import wordings_of


def test_every_place_of_a_wording_is_located_and_the_nearest_where_there_is_no_copy() -> None:
    texts = [
        "Oil the hinge in May.\nOil   the hinge in June.",
        "Nothing of that here, at all.",
        "First oil teh hinge well, then go.",
    ]
    wordings = wordings_of([Gold("q", (("oil the hinge", "oil the hinge well"),))], 0.88)
    found = locate(texts, wordings)

    assert [(o.wording, texts[0][o.start : o.end], o.edits) for o in found[0].occurrences] == [
        (0, "Oil the hinge", 0),
        (0, "Oil   the hinge", 0),
    ]
    assert found[1].occurrences == ()
    assert [(o.wording, texts[2][o.start : o.end], o.edits) for o in found[2].occurrences] == [
        (1, "oil teh hinge well", 2)  # 2 of 18 characters are allowed, of 13 only 1
    ]
