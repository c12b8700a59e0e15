import pytest

from chunklab_core.errors import did_you_mean

KNOWN = ["dense", "bm25", "hybrid"]


@pytest.mark.parametrize(
    ("name", "end"), [("bm52", "; did you mean 'bm25'?"), ("HYBIRD", "; did you mean 'hybrid'?"), ("x", ".")]
)
def test_a_close_name_is_suggested_and_a_distant_one_is_not(name: str, end: str) -> None:
    assert did_you_mean(name, KNOWN) == end


def test_the_closest_name_can_be_suggested_whatever_its_distance() -> None:
    assert did_you_mean("d", KNOWN, closeness=0) == "; did you mean 'dense'?"
    assert did_you_mean("d", [], closeness=0) == "."
