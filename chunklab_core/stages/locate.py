"""Stage locate: every place in the documents that reads like gold, found once for all strategies."""

from __future__ import annotations

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Items, Ref, ResultStore, in_step
from chunklab_core.records.questions import Gold, gold_from_mapping
from chunklab_core.score.locate import Located
from chunklab_core.score.locate import locate as locate_in
from chunklab_core.score.places import slot_places
from chunklab_core.score.stored import pack_located, pack_slot_places, unpack_located
from chunklab_core.score.wordings import wordings_of
from chunklab_core.stages.documents import document_entries, stored_documents
from chunklab_core.stages.stage import Made, Progress, Stage


def locate(store: ResultStore, progress: Progress, *, documents: Ref, gold: Ref, fuzzy_threshold: float) -> Made:
    """Where each slot's gold is. A document in which this gold was located before is reused."""
    wordings = wordings_of(read_gold(store, gold), fuzzy_threshold)
    parameters = {"wordings": [each.typed for each in wordings.snippets], "threshold": fuzzy_threshold}
    parsed_keys = store.items_of(documents)
    keys = STAGE.item_keys({}, parameters, ([key.hex()] for key in parsed_keys))
    located: list[Located] = []
    for parsed_part, part in in_step(parsed_keys, keys):
        payloads = store.get_items("locate", part)
        missing = {key: parsed for key, parsed in zip(part, parsed_part, strict=True) if key not in payloads}
        texts = [document.text for document, _ in stored_documents(store, [""] * len(missing), list(missing.values()))]
        new = {key: pack_located(each) for key, each in zip(missing, locate_in(texts, wordings), strict=True)}
        store.put_items("locate", new)
        located += [unpack_located({**payloads, **new}[key]) for key in part]
        progress(len(located), len(keys) + 1)
    doc_ids = [entry["id"] for entry in document_entries(store, documents)]
    places = slot_places(zip(range(len(doc_ids)), doc_ids, located, strict=True), wordings)
    return pack_slot_places(places), Items("locate", tuple(keys))


def read_gold(store: ResultStore, gold: Ref) -> list[Gold]:
    """The scored questions, as far as their gold."""
    return [gold_from_mapping(stored) for stored in unpack_json(store.read(gold))]


STAGE = Stage(
    locate,
    "Every place in the documents where gold is.",
    inputs=("documents", "gold"),
    libraries=("numpy", "rapidfuzz", "regex"),
    items="documents",
)
