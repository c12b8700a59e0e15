"""How long it takes to say which chunks hold which gold: a search of every retrieved chunk, and places found once.

    python -m benchmarks.gold_speed [--questions 500] [--cells 15] [--top 5 100]

Documents and questions are made up from a seed: every text is read for the first time. The search of every chunk is
timed on some of the questions and scaled up, for it is the slow one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from chunklab_core.chunk import chunk_document, make_chunker
from chunklab_core.records.chunks import Chunk
from chunklab_core.records.documents import Document
from chunklab_core.records.questions import Gold
from chunklab_core.score.chunk_edges import passage_of
from chunklab_core.score.gold import find_gold
from chunklab_core.score.locate import Located, locate
from chunklab_core.score.match import match_chunks
from chunklab_core.score.places import GoldChunks, gold_chunks
from chunklab_core.score.wordings import wordings_of

_THRESHOLD = 0.90
_TOGETHER = 100  # documents
_LETTERS = np.array(list("eeeettaaooiinnsshhrrddlluucmfywgpbvk"))
_SAMPLE = 5  # questions of which every retrieved chunk is searched
_CHUNKERS = [("fixed", {}), ("recursive", {}), ("recursive", {"chunk_size": 256}), ("fixed", {"overlap": 0})]
_CHUNKERS = [*_CHUNKERS, ("structure", {})]


def corpus(n_documents: int, characters: int, seed: int) -> list[Document]:
    """Documents of headings and paragraphs over 8,000 made-up words, frequent ones often, and figures."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(_LETTERS, rng.integers(2, 11))) for _ in range(8_000)]
    return [Document(f"{at:06}.md", _text(words, characters, rng)) for at in range(n_documents)]


def _text(words: Sequence[str], characters: int, rng: np.random.Generator) -> str:
    """Sentences of 5 to 20 words in paragraphs of 4."""
    ranks = (len(words) ** rng.random(characters // 6) - 1).astype(int)
    listed, at, sentences = [words[rank] for rank in ranks], 0, []
    while at < len(listed):
        length = int(rng.integers(5, 20))
        figure = f" {rng.integers(10_000)}" if rng.random() < 0.3 else ""
        end = "\n\n" if len(sentences) % 4 == 3 else " "
        sentences.append(f"{' '.join(listed[at : at + length]).capitalize()}{figure}.{end}")
        at += length
    return "".join(sentences)


def questions(documents: Sequence[Document], n_questions: int, seed: int) -> list[Gold]:
    """Each asks for one stretch of 60 to 300 characters; one in ten has a slip of the pen."""
    rng = np.random.default_rng(seed)
    made = []
    for at in range(n_questions):
        text = documents[int(rng.integers(len(documents)))].text
        start = text.index(" ", int(rng.integers(len(text) - 400))) + 1
        gold = text[start : text.index(" ", start + int(rng.integers(60, 300)))]
        made.append(Gold(f"q{at}", ((gold.replace("e", "", 1) if at % 10 == 0 else gold,),)))
    return made


def by_places(
    documents: Sequence[Document], strategies: Sequence[Sequence[Sequence[Chunk]]], asked: Sequence[Gold]
) -> list[GoldChunks]:
    """Located once, matched once a strategy."""
    wordings = wordings_of(asked, _THRESHOLD)
    located: list[Located] = []
    for at in range(0, len(documents), _TOGETHER):
        located += locate([document.text for document in documents[at : at + _TOGETHER]], wordings)
    found = []
    for chunked in strategies:
        held = match_chunks(list(zip(documents, chunked, strict=True)), located, wordings)
        firsts = np.cumsum([0, *(len(chunks) for chunks in chunked)])
        triples = [(d.doc_id, int(first), each) for d, first, each in zip(documents, firsts, held, strict=False)]
        found.append(gold_chunks(triples, wordings))
    return found


def by_search(document_of: dict[str, Document], chunks: Sequence[Chunk], question: Gold) -> list[list[bool]]:
    """Each chunk made ready and searched: what every cell would do on its own."""
    passages = [passage_of(document_of[chunk.doc_id].text, chunk) for chunk in chunks]
    found: list[list[bool]] = find_gold(question, chunks, passages, _THRESHOLD).found.tolist()
    return found


def plainly(chunks: Sequence[Chunk], question: Gold) -> list[list[bool]]:
    """The simplest search there is: lower case, single blanks, `in`; else the best window by edit distance."""
    from rapidfuzz import fuzz

    found = []
    for chunk in chunks:
        text = " ".join(chunk.text.lower().split())
        golds = [" ".join(slot[0].lower().split()) for slot in question.slots]
        found.append([gold in text or fuzz.partial_ratio(gold, text) >= 100 * _THRESHOLD for gold in golds])
    return found


def _seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _rows(rankings: Sequence[np.ndarray], top: int) -> list[list[int]]:
    return [ranking[:top].tolist() for ranking in rankings]


def compare(n_questions: int, n_cells: int, tops: Sequence[int], seed: int) -> None:
    """Prints seconds and ratios."""
    documents = corpus(60, 25_000, seed)
    asked = questions(documents, n_questions, seed + 1)
    chunkers = [make_chunker(name, **params) for name, params in _CHUNKERS]
    strategies = [[chunk_document(document, chunker) for document in documents] for chunker in chunkers]
    flat = [[chunk for chunks in chunked for chunk in chunks] for chunked in strategies]
    size = sum(len(document.text) for document in documents)
    print(f"{len(documents)} documents, {size:,} characters; chunks: {', '.join(str(len(each)) for each in flat)}")
    found: list[GoldChunks] = []
    seconds = _seconds(lambda: found.extend(by_places(documents, strategies, asked)))
    print(f"located once, matched for {len(strategies)} strategies: {seconds:.2f} s")
    document_of = {document.doc_id: document for document in documents}
    rng = np.random.default_rng(seed + 2)
    for top in tops:
        rankings = [[rng.permutation(len(flat[cell % 5]))[:top] for _ in asked] for cell in range(n_cells)]
        looked_up = _seconds(partial(_look_up, found, asked, [_rows(ranking, top) for ranking in rankings]))
        sample = range(0, n_questions, max(1, n_questions // _SAMPLE))
        scale = n_questions * n_cells / len(sample)
        searched = plain = 0.0
        for at in sample:
            rows = rankings[0][at].tolist()
            chunks = [flat[0][row] for row in rows]
            searched += _seconds(partial(by_search, document_of, chunks, asked[at])) * scale
            plain += _seconds(partial(plainly, chunks, asked[at])) * scale
            assert by_search(document_of, chunks, asked[at]) == found[0].finds(at, 1, rows).found.tolist()
        whole = seconds + looked_up
        print(
            f"top {top}: places {whole:.2f} s (looking up {looked_up:.2f} s); search of each chunk {searched:.1f} s, "
            f"{searched / whole:.0f} times; plain search {plain:.1f} s, {plain / whole:.0f} times"
        )


def _look_up(found: Sequence[GoldChunks], asked: Sequence[Gold], rankings: Sequence[list[list[int]]]) -> None:
    for cell, rows in enumerate(rankings):
        for at, question in enumerate(asked):
            found[cell % len(found)].finds(at, len(question.slots), rows[at])


def many(n_documents: int, n_questions: int, seed: int) -> None:
    """Prints how long it takes to locate in many small documents."""
    documents = corpus(n_documents, 2_000, seed)
    wordings = wordings_of(questions(documents, n_questions, seed + 1), _THRESHOLD)
    texts = [document.text for document in documents]
    parts = [texts[at : at + _TOGETHER] for at in range(0, len(texts), _TOGETHER)]
    seconds = _seconds(lambda: [locate(part, wordings) for part in parts])
    print(f"{n_documents:,} documents of 2,000 characters, {n_questions} questions: located in {seconds:.1f} s")


def one_slip(seed: int) -> None:
    """Prints how long the fuzzy place of one gold takes in one long document, apart from reading it."""
    (document,) = corpus(1, 737_000, seed)
    gold = document.text[400_000:400_120].replace("e", "", 1)
    wordings = wordings_of([Gold("q", ((gold,),))], _THRESHOLD)
    read = wordings_of([Gold("q", (("\u2603" * 9,),))], _THRESHOLD)
    whole = min(_seconds(lambda: locate([document.text], wordings)) for _ in range(3))
    reading = min(_seconds(lambda: locate([document.text], read)) for _ in range(3))
    print(f"a gold with a slip in {len(document.text):,} characters: {1e3 * whole:.0f} ms, reading {1e3 * reading:.0f}")


def main() -> None:
    """The three measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--cells", type=int, default=15)
    parser.add_argument("--top", type=int, nargs="+", default=[5, 100])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    compare(options.questions, options.cells, options.top, options.seed)
    one_slip(options.seed)
    many(options.documents, options.questions, options.seed)


if __name__ == "__main__":
    main()
