"""Located and matched gold as bytes and back, without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple

import numpy as np

from chunklab_core.cache.formats import array_of_text, pack_arrays, text_of_array, unpack_arrays
from chunklab_core.score.in_tokens import InTokens
from chunklab_core.score.locate import Located, Occurrence, Zone
from chunklab_core.score.places import GoldChunks, Slot, SlotPlace


def pack_located(located: Located) -> bytes:
    """The gold located in one document."""
    occurrences = [list(astuple(each)) for each in located.occurrences]
    zones = [[each.wording, each.start, each.end] for each in located.zones]
    return json.dumps([occurrences, zones]).encode()


def unpack_located(payload: bytes) -> Located:
    """The inverse of `pack_located`."""
    occurrences, zones = json.loads(payload)
    return Located(tuple(Occurrence(*each) for each in occurrences), tuple(Zone(*each) for each in zones))


SlotPlaces = Mapping[Slot, Sequence[SlotPlace]]
"""Every place in which gold counts, by slot; a slot that is in no document is absent."""


def pack_slot_places(places: SlotPlaces) -> bytes:
    """The places of all slots."""
    rows = [(*slot, *astuple(place)) for slot, of_slot in places.items() for place in of_slot]
    return pack_arrays({"places": np.array(rows, dtype=np.int64).reshape(-1, 7)})


def unpack_slot_places(payload: bytes) -> SlotPlaces:
    """The inverse of `pack_slot_places`."""
    places: dict[Slot, list[SlotPlace]] = {}
    for question, slot, *place in unpack_arrays(payload)["places"].tolist():
        places.setdefault((question, slot), []).append(SlotPlace(*place))
    return places


def pack_gold_chunks(gold_chunks: GoldChunks, tokens: InTokens) -> bytes:
    """Which chunks of a strategy hold which gold, and the places of both in tokens."""
    words = [[row, *pair] for row, pair in gold_chunks.words.items()]
    return pack_arrays(
        {
            "table": gold_chunks.table,
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
    gold_chunks = GoldChunks(arrays["table"], {row: (expected, found) for row, expected, found in words})
    return gold_chunks, InTokens(arrays["chunks"], arrays["gold"], arrays["weights"])
