from worlds import laid_out

from chunklab_core.chunk import chunk_document
from chunklab_core.chunk.structure import StructureChunker
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document


def cut(text: str, **params: int) -> list[Chunk]:
    return chunk_document(laid_out(text), StructureChunker(**params))


def bodies(chunks: list[Chunk]) -> list[str]:
    return [chunk.body for chunk in chunks]


MANUAL = "# Pump\n\n## Start\n\nOpen valve three.\n\n## Stop\n\nClose valve three.\n\n# Fan\n\nOil it weekly."


def test_a_section_is_a_chunk_that_begins_with_its_heading_and_bears_its_path() -> None:
    chunks = cut(MANUAL)
    assert bodies(chunks) == [
        "# Pump\n\n## Start\n\nOpen valve three.",  # a heading without content joins the section below it
        "## Stop\n\nClose valve three.",
        "# Fan\n\nOil it weekly.",
    ]
    assert [chunk.prefix for chunk in chunks] == ["Pump > Start", "Pump > Stop", "Fan"]


def test_small_neighbours_are_merged_under_one_parent_only_and_bear_the_common_path() -> None:
    chunks = cut(MANUAL, min_tokens=20)
    assert [chunk.prefix for chunk in chunks] == ["Pump", "Fan"]
    assert chunks[0].body.endswith("Close valve three.")


def test_neighbours_are_merged_while_they_fit() -> None:
    text = "# A\n\n" + "\n\n".join(f"## S{n}\n\nOpen valve {n}." for n in range(6))
    chunks = cut(text, min_tokens=40, max_tokens=40)
    assert len(chunks) == 2
    assert all(chunk.n_tokens <= 40 and chunk.prefix == "A" for chunk in chunks)


def test_a_large_section_is_cut_between_its_blocks() -> None:
    one, two = "Water is cold. It is wet.", "Fire is hot. It is dry."
    assert bodies(cut(f"{one}\n\n{two}", max_tokens=10)) == [one, two]


def test_a_large_paragraph_is_cut_between_sentences() -> None:
    assert bodies(cut("Water is cold. It is wet. Fire is hot.", max_tokens=9)) == [
        "Water is cold. It is wet.",
        "Fire is hot.",
    ]


def test_a_list_is_cut_between_items() -> None:
    text = "- water is cold\n  and wet\n- fire is hot\n  and dry"
    assert bodies(cut(text, max_tokens=10)) == ["- water is cold\n  and wet", "- fire is hot\n  and dry"]


def test_code_is_cut_between_lines() -> None:
    assert bodies(cut("```\nx = first(1)\ny = second(2)\n```", max_tokens=8)) == [
        "```\nx = first(1)",
        "y = second(2)\n```",
    ]


def test_a_heading_stays_with_the_first_sentences_of_its_section() -> None:
    chunks = cut("## Heat\n\nFire is hot. It is dry. It is bright. It is near.", max_tokens=16)
    assert chunks[0].body.startswith("## Heat\n\nFire is hot.")


def test_a_table_that_fits_is_kept_whole_behind_text() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    assert bodies(cut(f"Water is cold and it is wet.\n\n{table}", max_tokens=25)) == [
        "Water is cold and it is wet.",
        table,
    ]


def test_header_rows_are_never_left_without_a_row() -> None:
    rows = "\n".join(f"| bolt {n} | {n} newton metres |" for n in range(30))
    chunks = cut(f"Some words first, quite a few of them.\n\n| name | torque |\n|---|---|\n{rows}", max_tokens=40)
    assert all("bolt" in chunk.body or "words" in chunk.body for chunk in chunks)
    assert all("| name | torque |" in chunk.text for chunk in chunks if "bolt" in chunk.body)
    assert all(chunk.n_tokens <= 40 for chunk in chunks)


def test_a_header_too_large_for_the_budget_is_cut_down_to_the_names_or_left_out() -> None:
    names = "| " + " | ".join(f"column {n}" for n in range(4)) + " |"
    table = f"{names}\n|{'------------------|' * 4}\n" + "| one | two | three | four |\n" * 9
    with_names = cut(table, max_tokens=30)
    assert {chunk.prefix for chunk in with_names if "column 0" not in chunk.body} == {names}
    without = cut(table, max_tokens=12)
    assert {chunk.prefix for chunk in without} == {""}
    assert all(chunk.n_tokens <= 12 for chunk in without)


def test_a_row_above_the_budget_is_cut_between_words() -> None:
    row = "| " + "long words in a cell " * 20 + "|"
    chunks = cut(f"| a |\n|---|\n| 1 |\n{row}\n| 2 |", max_tokens=30)
    assert all(chunk.n_tokens <= 30 for chunk in chunks)
    assert "".join(chunk.body for chunk in chunks).count("long") == 20


def test_text_without_elements_is_packed_by_paragraphs() -> None:
    chunks = chunk_document(
        Document("d", "Water is cold.\n\nFire is hot.\n\nIt is dry."), StructureChunker(max_tokens=9)
    )
    assert bodies(chunks) == ["Water is cold.\n\nFire is hot.", "It is dry."]


def test_text_before_the_first_element_and_between_elements_is_kept() -> None:
    document = laid_out("Lead.\n\n# One\n\nBody. Tail.")
    gaps = Document("d", document.text, (document.elements[1],))  # only the heading is known
    assert "".join(bodies(chunk_document(gaps, StructureChunker()))).replace("\n", "") == "Lead.# OneBody. Tail."


def test_without_heading_path_there_is_no_prefix() -> None:
    assert {chunk.prefix for chunk in chunk_document(laid_out(MANUAL), StructureChunker(heading_path=False))} == {""}
