"""Why a value of report.json is null, in words; the records hold the codes."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "any_price": "the cell ranks first at any higher lambda",
    "few_documents": "fewer than 10 documents are known to contain gold",
    "from_zero": "the range begins at 0",
    "never_meet": "no two levels can be compared with everything else equal",
    "no_axis": "no axis has two levels",
    "no_chunks": "the strategy made no chunks",
    "no_cost": "the tokens that the cells retrieve are not known",
    "no_difference": "the two cells differ on no question",
    "no_end": "the range has no end",
    "no_limit": "the model's limit is not known",
    "no_model": "{record.retriever} uses no embedding model",
    "no_number": "no realistic number",
    "no_price": "no cell retrieved a token, so there is no price to compare with",
    "no_reranker": "nothing is reranked",
    "no_tables": "the documents have no tables",
    "no_variance": "all means are equal, or combinations of the axes are missing",
    "not_balanced": "cells are not ranked by balanced, or no two of them differ",
    "nothing_to_compare": "there is nothing to compare with",
    "one_group": "fewer than two independent groups of questions",
    "one_question": "one question, or near-duplicates of one, cannot show a spread",
    "other_evidence": "more questions would not settle it; the reasons name what would",
    "overlap": "the parts overlap, so no mean over them weighs each question once",
    "ruled_out": "the cell is ruled out",
    "settled": "the verdict needs no more questions",
    "tied": "the cells do not differ on any question",
}


def reason_in_words(code: str, record: object) -> str:
    """The reason why a value of a record is null."""
    return WORDS[code].format(record=record)
