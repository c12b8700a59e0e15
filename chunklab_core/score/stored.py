"""Located and matched gold as bytes and back, without pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple

import numpy as np

from chunklab_core.cache.formats import array_of_text, pack_arrays, text_of_array, unpack_arrays
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.locate import Located, Occurrence, Zone
from chunklab_core.score.places import GoldChunks


def pack_located(located: Located) -> bytes:
    """The gold located in one document."""
    occurrences = [list(astuple(each)) for each in located.occurrences]
    zones = [[each.wording, each.start, each.end] for each in located.zones]
    return json.dumps([occurrences, zones]).encode()


def unpack_located(payload: bytes) -> Located:
    """The inverse of `pack_located`."""
    occurrences, zones = json.loads(payload)
    return Located(tuple(Occurrence(*each) for each in occurrences), tuple(Zone(*each) for each in zones))


def pack_places(located: Iterable[Located]) -> bytes:
    """The places in all documents of a corpus, in their order, without words and zones (see `pack_located`)."""
    rows = [
        (index, each.wording, each.start, each.end, each.edits)
        for index, document in enumerate(located)
        for each in document.occurrences
    ]
    return pack_arrays({"places": np.array(rows, dtype=np.int64).reshape(-1, 5)})


def unpack_places(payload: bytes) -> list[tuple[int, Located]]:
    """The documents in which something was located, by index, without words and zones; the inverse of `pack_places`."""
    found: dict[int, list[Occurrence]] = {}
    for index, *place in unpack_arrays(payload)["places"].tolist():
        found.setdefault(index, []).append(Occurrence(*place))
    return [(index, Located(tuple(found[index]), ())) for index in sorted(found)]


def pack_gold_chunks(holders: GoldChunks, tokens: InTokens) -> bytes:
    """Which chunks of a strategy hold which gold, and the places of both in tokens."""
    words = [[at, *both] for at, both in holders.words.items()]
    return pack_arrays(
        {
            "table": holders.table,
            "words": array_of_text(json.dumps(words)),
            "chunks": tokens.chunks,
            "gold": tokens.gold,
            "weights": tokens.weights,
        }
    )


def unpack_gold_chunks(payload: bytes) -> tuple[GoldChunks, InTokens]:
    """The inverse of `pack_gold_chunks`."""
    arrays = unpack_arrays(payload)
    words = json.loads(text_of_array(arrays["words"]))
    holders = GoldChunks(arrays["table"], {at: (expected, found) for at, expected, found in words})
    return holders, InTokens(arrays["chunks"], arrays["gold"], arrays["weights"])
