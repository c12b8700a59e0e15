"""Stage match: which chunks of one strategy hold which gold, and where both are in tokens of the documents."""

from __future__ import annotations

from itertools import islice

from chunklab_core.cache.protocol import Ref, ResultStore, in_step
from chunklab_core.score.in_tokens import DocumentInTokens, document_in_tokens, in_tokens
from chunklab_core.score.match import ChunkMatch, match_chunks
from chunklab_core.score.places import gold_chunks, slot_places
from chunklab_core.score.stored import pack_gold_chunks, unpack_located
from chunklab_core.score.wordings import wordings_of
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.locate import read_gold
from chunklab_core.stages.stage import TOKENS, Made, Progress, Stage
from chunklab_core.tokens import count_tokens


def match(
    store: ResultStore, progress: Progress, *, chunks: Ref, located: Ref, gold: Ref, fuzzy_threshold: float
) -> Made:
    """The finds of all chunks, and the places of chunks and gold in tokens."""
    questions = read_gold(store, gold)
    wordings = wordings_of(questions, fuzzy_threshold)
    table = ChunkTable(store, chunks)
    finds: list[tuple[str, int, list[ChunkMatch]]] = []
    tokens: list[DocumentInTokens] = []
    first_row = 0
    documents = table.documents()
    for (part,) in in_step(store.items_of(located)):
        together = list(islice(documents, len(part)))
        items = store.get_all_items("locate", part)
        located_part = [unpack_located(items[key]) for key in part]
        matches = match_chunks(together, located_part, wordings)
        for (document, of_document), own, places in zip(together, matches, located_part, strict=True):
            slots = slot_places([(len(finds), document.doc_id, places)], wordings)
            tokens.append(document_in_tokens(len(finds), document, of_document, slots))
            finds.append((document.doc_id, first_row, own))
            first_row += len(of_document)
        progress(len(finds), len(table.doc_ids) + 1)
    return pack_gold_chunks(gold_chunks(finds, wordings), in_tokens(tokens, questions, count_tokens)), None


STAGE = Stage(
    match,
    "Which chunks of one strategy hold which gold.",
    inputs=("chunks", "located", "gold"),
    libraries=(*TOKENS, "numpy", "rapidfuzz", "regex"),
)
