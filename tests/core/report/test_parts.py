from chunklab_core.records.survey import Breakdown, PartRecall
from chunklab_core.report.parts import caution_about_parts


def breakdown(*sizes: int) -> Breakdown:
    return Breakdown((tuple(PartRecall(f"tag {at}", n, n, 1.0, None, None) for at, n in enumerate(sizes)),))


def test_many_small_parts_are_warned_of_with_how_many_stand_out_by_chance() -> None:
    text = caution_about_parts(breakdown(*[1] * 40))

    assert "40 parts, about 2.0 of them stand out at 95 % by chance" in text
    assert "40 of 40 parts have fewer than 15 questions" in text


def test_few_large_parts_and_no_parts_need_no_warning() -> None:
    assert not caution_about_parts(breakdown(20, 20))
    assert not caution_about_parts(breakdown())
